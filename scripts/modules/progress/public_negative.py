"""Set G, third part: output of programs that do not train, most from messages found in public code.

The numbers are invented.
"""
from .lib import negative, tqdm


@negative("workflow_steps", "workflow engines: logger.info(f\"Step {n} completed successfully\")")
def workflow_steps(log):
    for n in range(1, 25):
        log.tick(3)
        log.line(f"{log.ms()} - orchestrator - INFO - Executing step {n}: call_tool\n{log.ms()} - orchestrator - INFO - Step {n} completed successfully")


@negative("pipeline_numbers", "pipelines of documents: [1/7] Preparing run folder")
def pipeline_numbers(log):
    for n, text in enumerate(("Preparing run folder", "Extracting documents", "Splitting into chunks", "Embedding chunks", "Scoring retrieval", "Writing report", "Done"), 1):
        log.line(f"[{n}/7] {text}")
        for k in range(12):
            log.line(f"    chunk {k * 31}: {log.near(800.):.1f} characters")


@negative("mesa_model", "agent-based simulations: INFO Step 12 completed., messages of this step")
def mesa_model(log):
    for n in range(1, 60):
        log.line(f"INFO:__main__:Processed {n * 7 % 13} messages this step\nINFO:__main__:Step {n} completed.")


@negative("chat_chapters", "scripts that call a chat model: [12] finish_reason=stop and the tokens it used")
def chat_chapters(log):
    for n in range(1, 40):
        log.line(f"[{n}] finish_reason=stop 正常 输出 {1200 + n * 37 % 800}/4096 token，正文 {800 + n * 13 % 90} 字")


@negative("kmeans_centres", "clustering homework: iter 3: (0.12, 0.33)  (0.91, 0.21)")
def kmeans_centres(log):
    log.line("k=3")
    for n in range(0, 11):
        log.line(f"iter {n}: ({log.near(.1):.2f}, {log.near(.3):.2f})  ({log.near(.9):.2f}, {log.near(.2):.2f})  ({log.near(.5):.2f}, {log.near(.8):.2f})")


@negative("starcraft_bot", "bots for StarCraft: iteration (340): observer 2 at (31, 44) patroling base 0")
def starcraft_bot(log):
    for n in range(0, 4000, 16):
        log.line(f"iteration ({n}): observer {n % 3} at ({n % 97}, {n % 83}) patroling base {n % 2} at (40, 51), waypoint ({n % 60}, {n % 50})")


@negative("classify_batches", "scripts that apply a classifier: Processing batch 3/40")
def classify_batches(log):
    log.line("Loading model from ./model\nLoaded 1280 texts")
    for n in range(1, 41):
        log.line(f"Processing batch {n}/40")
    log.line("Saved probabilities to out.csv")


@negative("vector_store", "scripts that fill a vector store: Adding to ChromaDB")
def vector_store(log):
    log.line("Found 4812 documents")
    for n in range(0, 49):
        log.raw("\r" + tqdm(n, 48, n * 1.2, desc="Adding to ChromaDB"))
    log.line("\nCollection now has 4812 documents")


@negative("eval_samples", "evaluation of language models: a bar of samples called Evaluating, and accuracies")
def eval_samples(log):
    log.line("Loading checkpoint from out/final\nEvaluating on 400 samples")
    for n in range(0, 401, 8):
        log.raw("\r" + tqdm(n, 400, n / 3.1, desc="Evaluating", unit="sample"))
        if n % 80 == 0 and n:
            log.line(f"\nAccuracy so far: {log.near(.7):.4f} ({n * 7 // 10}/{n})")
    log.line()


@negative("spark_stream_batches", "structured streaming: Processing batch 17 with 230 records")
def spark_stream_batches(log):
    for n in range(0, 50):
        log.line(f"Processing batch {n} with {200 + n * 17 % 60} records\nBatch {n} written to reddit.comments in {log.near(.4):.2f} s")


@negative("debate_rounds", "debates of language models: Round 1: Defense A - 7.5, Defense B - 6.0")
def debate_rounds(log):
    for debate in range(4):
        for n in range(1, 4):
            log.line(f"=== Debate round {n} ===\nDefense A: The claim does not follow.\nDefense B: It does.")
        for n in range(1, 4):
            log.line(f"Round {n}: Defense A - {log.near(7.):.1f}, Defense B - {log.near(6.):.1f}")


@negative("routing_rounds", "distance vector routing: Round 3: routers updated = {'B', 'C'}")
def routing_rounds(log):
    for n in range(1, 9):
        log.line(f"Round {n}: routers updated = {{'{'ABCDEFGH'[n - 1]}', 'C'}}")
    log.line("Converged in 9 rounds, 0.0021 s, 312 messages")


@negative("mancala_games", "games between programs: ITERATION 12 and who won")
def mancala_games(log):
    for n in range(0, 80):
        log.line(f"ITERATION {n}\nplayer_one_type minimax\nplayer_two_type {'random' if n % 3 else 'rightpot'}\nwinner player {1 + n % 2} by {n * 5 % 17}")


@negative("tracking_frames", "tracking of people: Frame 0012 | Det:   3 | Tracked:   2 | Inf: 12.3ms")
def tracking_frames(log):
    log.line("[INFO] Loading YOLOv8n ...")
    for n in range(1, 400):
        log.line(f"Frame {n:04d} | Det: {n % 5:3d} | Tracked: {n % 4:3d} | Inf: {log.near(12.):.1f}ms")


@negative("video_frames", "number plates in a film: Frame 0120/900 | FPS: 23.1 | Vehicles Tracked: 12")
def video_frames(log):
    for n in range(20, 901, 20):
        log.line(f"Frame {n:04d}/900 | FPS: {log.near(23.):.1f} | Vehicles Tracked: {n // 60} | Confirmed Plates: {n // 200}")


@negative("deepfake_frames", "detection of faked films: Frame 12: 0.4312, the score again below")
def deepfake_frames(log):
    log.line("Analyzing video clip_07.mp4")
    for n in range(1, 90):
        score = log.near(.4)
        log.line(f"Frame {n}: {score:.4f}\n{score}")
    log.line("Verdict: REAL")


@negative("chain_epochs", "block chains: Epoch: 2340123, Miner: f01234")
def chain_epochs(log):
    for n in range(2340000, 2340080):
        log.line(f"Epoch: {n}, Miner: f0{1000 + n * 7 % 900}")


@negative("liquidity_epochs", "rewards of a pool: epoch 412  blocks 100..200  (lp)")
def liquidity_epochs(log):
    for n in range(400, 440):
        log.line(f"epoch {n}  blocks {n * 7200}..{n * 7200 + 7199}  (lp)\nproviders {30 + n % 7}  total shares {n * 91234567}  pages 3")


@negative("arm_errors", "inverse kinematics of a robot: Frame 12: errors of both arms")
def arm_errors(log):
    for n in range(0, 200):
        log.line(f"Frame {n}: 右臂误差:{log.near(.01):.4f}, 左臂误差:{log.near(.04):.4f}")


@negative("keras_predict", "keras-team/keras model.predict: a bar without metrics")
def keras_predict(log):
    log.line("Loading model from best.keras")
    for round_ in range(3):
        for n in range(1, 33):
            log.raw(f"\r{n}/32 {'━' * (n * 20 // 32):20} {32 - n}s 12ms/step")
        log.line("\nwrote predictions.csv")


@negative("keras_evaluate", "keras-team/keras model.evaluate: one bar with metrics, no epoch")
def keras_evaluate(log):
    log.line("Evaluating model best.keras on the test set")
    for n in range(1, 64):
        log.raw(f"\r{n}/63 {'━' * (n * 20 // 63):20} {(63 - n) // 20}s 3ms/step - accuracy: {log.near(.76):.4f} - loss: {log.near(.57):.4f}")
    log.line("\n[0.5850245356559753, 0.762723982334137]")


@negative("plain_inference_bar", "scripts that apply a model: a bar without words between loading and saving")
def plain_inference_bar(log):
    log.line("Loading model from runs/exp3/best.pt\nFound 250 images in data/test")
    for n in range(0, 251, 5):
        log.raw("\r" + tqdm(n, 250, n / 9.))
    log.line("\nSaved predictions to submission.csv")


@negative("numpyro_mcmc", "pyro-ppl/numpyro infer/mcmc.py: warmup and samples of a chain")
def numpyro_mcmc(log):
    for n in range(0, 2001, 20):
        log.raw("\r" + tqdm(n, 2000, n / 300., desc="warmup" if n < 1000 else "sample", postfix=f"{7 + n % 8} steps of size {log.near(.5):.2e}. acc. prob={log.near(.9):.2f}" if n else ""))
    log.line()


@negative("mmlu_bar", "scripts that evaluate: Evaluating MMLU with the accuracy so far")
def mmlu_bar(log):
    for n in range(0, 1001, 10):
        log.raw("\r" + tqdm(n, 1000, n / 4., desc="MMLU", postfix=f"acc={log.near(.7):.3f}"))
    log.line("\nMMLU accuracy: 0.7120")


@negative("webui_bars", "AUTOMATIC1111/stable-diffusion-webui: a bar of a picture and one of all")
def webui_bars(log):
    log.line("Loading weights [6ce0161689] from /models/Stable-diffusion/v1-5.safetensors\nCreating model from config: /configs/v1-inference.yaml\nApplying attention optimization: Doggettx... done.\nModel loaded in 3.2s (load weights from disk: 0.9s, create model: 0.4s).")
    for picture in range(4):
        for n in range(0, 21):
            log.raw("\r" + tqdm(n, 20, n / 6.1))
        log.line()
    log.raw("\r" + tqdm(80, 80, 14., desc="Total progress"))
    log.line()


@negative("faster_whisper", "SYSTRAN/faster-whisper scripts: a bar of seconds of sound")
def faster_whisper(log):
    log.line("Detected language 'en' with probability 0.98")
    for n in range(0, 921, 20):
        log.raw(f"\r{n * 100 // 920:3}%|{'█' * (n // 92):10}| {n + .2}/920.3 [00:{n // 20 % 60:02}<00:{(920 - n) // 20 % 60:02}, {log.near(20.):.2f}sec/s]")
    log.line()


@negative("visual_slam", "odometry from pictures: frame 120: tracked 310 features, reprojection error 0.41")
def visual_slam(log):
    for n in range(0, 600):
        log.line(f"frame {n}: tracked {int(log.near(310.))} features, reprojection error {log.near(.4):.3f} px, keyframes {n // 12}")


@negative("ceres_solver", "ceres-solver: a table of costs for each iteration")
def ceres_solver(log):
    for run in range(3):
        log.line("iter      cost      cost_change  |gradient|   |step|    tr_ratio  tr_radius  ls_iter  iter_time  total_time")
        for n in range(0, 18):
            log.line(f"{n:>4}  {log.loss(n / 18, 2e5, 1e3):.6e}    {log.near(1e3):.2e}    {log.near(1e2):.2e}   {log.near(1.):.2e}   {log.near(1.):.2e}  {1e4 * 3 ** min(n, 9):.2e}        1    {log.near(.003):.2e}    {n * .003:.2e}")
        log.line("Ceres Solver Report: Iterations: 18, Initial cost: 2.012345e+05, Final cost: 1.012345e+03, Termination: CONVERGENCE")


@negative("game_server", "servers of games: tick 1200: players=12, entities=431, tps=19.9")
def game_server(log):
    for n in range(0, 12000, 200):
        log.line(f"[{log.at('%H:%M:%S')}] [Server thread/INFO]: tick {n}: players={n % 13}, entities={400 + n % 71}, tps={log.near(19.5):.1f}")


@negative("prompt_list", "generation from a list of prompts: [3/40] prompt, tokens and seconds")
def prompt_list(log):
    for n in range(1, 41):
        log.line(f"[{n}/40] 'Write a poem about the sea' -> {100 + n * 7 % 60} tokens in {log.near(3.2):.1f} s ({log.near(37.):.1f} tok/s)")
