"""Set E, first part: reinforcement learning, speech, text and language models.

The format strings are those of the named projects, or of lines that users printed in their issues; the numbers are invented.
"""
from .lib import positive, tqdm, truth


@positive("sb2_dqn", "hill-a/stable-baselines deepq/dqn.py (verbose=1)")
def sb2_dqn(log):
    log.line("Creating environment from the given name, wrapped in a DummyVecEnv.")
    for k in range(1, 21):
        log.step("--------------------------------------")
        log.line(f"| % time spent exploring  | {max(2, 98 - 9 * k):<8} |")
        log.line(f"| episodes                | {k * 100:<8} |")
        log.line(f"| mean 100 episode reward | {log.near(-30.):<8.1f} |")
        log.line(f"| steps                   | {k * 617 + 3:<8} |")
        log.line("--------------------------------------")
    return truth(f"{20 * 617 + 3}|2000", "")


@positive("rainbow_script", "aryanchegini/function-approximated-RL TRAINING_OUTPUT_EXAMPLE.md")
def rainbow_script(log):
    log.lines("Rainbow DQN Training on Space Invaders\nCreating environment...\nState shape: (84, 84, 4)\nNumber of actions: 6\nStarting training...")
    for k in range(1, 15):
        log.step(f"Episode {k * 50} | Steps: {1200 + k * 17 % 90} | Score: {log.near(150.):.1f} | Total Steps: {k * 62000 + 350} | Mean(100): {log.near(140.):.1f} | Eval: {log.near(160.):.1f}")
        if k % 3 == 0:
            log.line(f"New best model saved! Eval: {log.near(200.):.1f}")
    return truth(f"700|{14 * 62000 + 350}", "")


@positive("learner_steps", "a pommerman script: [DATA] Loss, Actor Steps, Learner Steps")
def learner_steps(log):
    for step in range(1, 60):
        log.step(f"[DATA] Loss: {round(log.loss(step / 60), 4)}, Actor Steps: {step * 32}, Learner Steps: {step}")
    return truth(f"59|{59 * 32}", "")


@positive("dreamerv3", "danijar/elements logger.py TerminalOutput (a rule with the step above its metrics)")
def dreamerv3(log):
    log.line("Logdir: /root/logdir/20250311T091402")
    for step in range(1, 25):
        log.step(f"{'─' * 46} Step {step * 1152} {'─' * 47}")
        log.line(f"episode/length {log.near(300.):.0f} / episode/score {log.near(.09):.2f} / episode/sum_abs_reward 0.09 / episode/reward_rate 0 /")
        log.line(f"train/action_mag 4.84 / train/adv_mag {log.near(1e-5):.1e} / train/image_loss {log.loss(step / 25, 900, 20):.2f} / fps/policy {log.near(120.):.1f}")
        log.line()
    return truth(24 * 1152, "")


@positive("dreamerv1", "danijar/dreamer tools.py (print of a step in brackets)")
def dreamerv1(log):
    for step in range(1, 40):
        log.step(f"[{step * 1000}] model_loss {log.loss(step / 40, 3000, 60):.1f} / image_loss {log.loss(step / 40, 2900, 50):.1f} / div 3.0 / actor_loss {log.near(-4.):.1f} / fps {log.near(20.):.1f}")
    return truth(39000, "")


@positive("sheeprl", "Eclectic-Sheep/sheeprl algos/ppo/ppo.py")
def sheeprl(log):
    log.lines("Seed set to 42\nEncoder CNN keys: []\nEncoder MLP keys: ['state']")
    for k in range(1, 60):
        log.step(f"Rank-0: policy_step={k * 128}, reward_env_{k % 4}={log.near(20. + k):.1f}")
    return truth(59 * 128, "")


@positive("skrl_bar", "Toni-SM/skrl skrl/trainers (a bar without a word)")
def skrl_bar(log):
    log.lines("[skrl:INFO] Environment wrapper: gymnasium\n[skrl:INFO] Seed: 42")
    for n in range(0, 10001, 50):
        log.bar(tqdm(n, 10000, n / 95.))
    log.line()
    return truth(10000, "", total=10000)


@positive("garage", "rlworkgroup/garage with dowel (a table for each epoch)")
def garage(log):
    for epoch in range(20):
        log.tick(9)
        log.line(f"{log.at()} | [trpo] epoch #{epoch} | Obtaining samples for iteration {epoch}...")
        log.step(f"{log.at()} | [trpo] epoch #{epoch} | Saved")
        log.line(f"{log.at()} | [trpo] epoch #{epoch} | Time {epoch * 9.2:.2f} s")
        log.line("---------------------------------  -------------")
        for name, value in (("Evaluation/AverageDiscountedReturn", log.near(30.)), ("Evaluation/AverageReturn", log.near(40.)), ("Evaluation/Iteration", epoch), ("GaussianMLPPolicy/Entropy", log.near(1.4)), ("GaussianMLPPolicy/LossAfter", log.near(-.02)), ("TotalEnvSteps", (epoch + 1) * 4096)):
            log.line(f"{name:<33}  {value:>13.6g}")
        log.line("---------------------------------  -------------")
    return truth(f"19|20|{20 * 4096}", "")


@positive("ppo_barhate", "nikhilbarhate99/PPO-PyTorch train.py")
def ppo_barhate(log):
    log.line("training environment name : CartPole-v1")
    t, episode = 0, 0
    for k in range(1, 40):
        t, episode = t + 1600, episode + 20 + k % 7
        log.step(f"Episode : {episode} \t\t Timestep : {t} \t\t Average Reward : {log.near(20. + k):.2f}")
    return truth(f"{t}|{episode}", "")


@positive("udacity_dqn", "udacity/deep-reinforcement-learning dqn (a carriage return, a line each 100)")
def udacity_dqn(log):
    for episode in range(1, 401):
        log.raw(f"\rEpisode {episode}\tAverage Score: {log.near(episode / 30):.2f}", step=True)
        if episode % 100 == 0:
            log.line(f"\rEpisode {episode}\tAverage Score: {log.near(episode / 30):.2f}")
    return truth(400, "episodes")


@positive("keon_dqn", "keon/deep-q-learning dqn.py")
def keon_dqn(log):
    for episode in range(120):
        log.step(f"episode: {episode}/1000, score: {9 + episode * 7 % 60}, e: {max(.01, .995 ** episode):.2}")
    return truth(119, "episodes", total="1000|")


@positive("muzero_general", "werner-duvaud/muzero-general muzero.py (a line drawn again)")
def muzero_general(log):
    log.line("Training...\nRun tensorboard --logdir ./results and go to http://localhost:6006/ to see in real time the training performance.")
    for k in range(0, 300):
        log.raw(f"Last test reward: {log.near(12.):.2f}. Training step: {k * 7}/10000. Played games: {k * 2 // 3}. Loss: {log.loss(k / 300, 9.):.2f}\r", step=True)
    return truth(299 * 7, "", total="10000|")


@positive("trl_ppo_dicts", "huggingface/trl trl/trainer/ppo_trainer.py (dictionaries without the bar)")
def trl_ppo_dicts(log):
    for k in range(1, 53):
        log.step(str({"eps": 1, "objective/kl": log.near(10.), "objective/entropy": log.near(100.), "objective/rlhf_reward": log.near(1.1), "policy/approxkl_avg": log.near(.002), "loss/policy_avg": log.near(.001), "loss/value_avg": log.near(.15), "val/ratio": log.near(.97), "val/num_eos_tokens": 0, "lr": 3e-6 * (1 - k / 60), "episode": k * 16, "epoch": round(k * .0175, 2)}))
    return truth(52 * 16, "episodes")


@positive("alphazero_general", "suragnair/alpha-zero-general Coach.py, pytorch/NNet.py (bars of self-play and of training)")
def alphazero_general(log):
    steps = 0
    for iteration in range(1, 4):
        log.line(f"{log.at()} INFO Starting Iter #{iteration} ...")
        for n in range(0, 26):
            log.raw("\r" + tqdm(n, 25, n / 2.1, desc="Self Play"))
        log.line()
        for epoch in range(1, 11):
            log.line(f"EPOCH ::: {epoch}")
            for n in range(0, 51, 5):
                log.bar(tqdm(n, 50, n / 40., desc="Training Net", postfix=f"Loss_pi={log.near(3.):.2e}, Loss_v={log.near(.4):.2e}"))
            log.line()
            steps += 50
        for n in range(0, 21):
            log.raw("\r" + tqdm(n, 20, n / 2.1, desc="Arena.playGames (1)"))
        log.line()
        log.line(f"{log.at()} INFO NEW/PREV WINS : 21 / 17 ; DRAWS : 2")
    return truth(steps)


@positive("speech_transformer", "kaituoxu/Speech-Transformer src/solver/solver.py")
def speech_transformer(log):
    log.line("Training...")
    for epoch in range(1, 4):
        for n in range(1, 400, 10):
            log.step(f"Epoch {epoch} | Iter {n} | Average Loss {log.near(2.):.3f} | Current Loss {log.near(2.):.6f} | {log.near(200.):.1f} ms/batch")
        log.line(f"{'-' * 85}\nTrain Summary | End of Epoch {epoch} | Time {log.near(80.):.2f}s | Train Loss {log.near(2.):.3f}\n{'-' * 85}")
    return truth("1191|1173")


@positive("kaldi_chain", "kaldi-asr/kaldi egs/wsj/s5/steps/nnet3/chain/train.py")
def kaldi_chain(log):
    where = "steps/nnet3/chain/train.py"
    log.line(f"{log.ms()} [{where}:454 - train - INFO ] Preparing the initial acoustic model.")
    log.line(f"{log.ms()} [{where}:488 - train - INFO ] Training will run for 20.0 epochs = 80 iterations")
    for n in range(80):
        log.tick(37)
        log.step(f"{log.ms()} [{where}:535 - train - INFO ] Iter: {n}/79   Jobs: 2   Epoch: {n / 4:.2f}/20.0 ({n / .8:.1f}% complete)   lr: {.004 * .98 ** n:.6f}   ")
    return truth(79, total="79|80")


@positive("fairseq_hydra", "facebookresearch/fairseq with hydra: [train_inner][INFO] - {JSON}")
def fairseq_hydra(log):
    for n in range(200, 8001, 200):
        log.tick(183)
        epoch = n / 1140
        log.step(f'[{log.ms()}][train_inner][INFO] - {{"epoch": {int(epoch) + 1}, "update": {epoch:.3f}, "loss": "{log.loss(epoch / 8):.3f}", "ntokens": "6249.34", "nsentences": "77.8", "temp": "1.791", "accuracy": "0.48972", "wps": "6723.9", "ups": "1.08", "wpb": "6249.3", "bsz": "77.8", "num_updates": "{n}", "lr": "3.46875e-05", "gnorm": "1.383", "train_wall": "183", "gb_free": "11.1", "wall": "{n}"}}')
    return truth(8000)


@positive("rvc", "RVC-Project/Retrieval-based-Voice-Conversion-WebUI train.py (step and rate in a list)")
def rvc(log):
    for k in range(1, 25):
        log.line(f"INFO:my_model:Train Epoch: {k // 2 + 1} [{50 * (k % 2) + 20}%]")
        log.step(f"INFO:my_model:[{k * 200}, {9.99e-05 * .999875 ** k}]")
        log.line(f"INFO:my_model:loss_disc={log.near(3.8):.3f}, loss_gen={log.near(3.):.3f}, loss_fm={log.near(9.):.3f},loss_mel={log.near(20.):.3f}, loss_kl={log.near(1.3):.3f}")
        if k % 2:
            log.line(f"INFO:my_model:====> Epoch: {k // 2 + 1} [{log.at()}] | (1:11:57.773330)")
    return truth(4800)


@positive("cmgan", "ruizhecao96/CMGAN src/train.py (logging.info)")
def cmgan(log):
    for epoch in range(3):
        for step in range(500, 8001, 500):
            log.step(f"INFO:root:Epoch {epoch}, Step {step}, loss: {log.loss(epoch / 3, .2, .04)}, disc_loss: {log.near(.005)}")
        log.line(f"INFO:root:Epoch time: {log.near(5660.)}")
    return truth("24000", epoch_steps="")


@positive("dllogger", "NVIDIA/dllogger, NVIDIA/DeepLearningExamples (epoch and iteration in round brackets)")
def dllogger(log):
    log.line("DLL 2025-03-11 09:14:02.318120 - PARAMETER batch_size : 64  learning_rate : 0.001  epochs : 3 ")
    for epoch in range(3):
        for n in range(200):
            log.tick(1)
            log.step(f"DLL {log.ms('.')}120 - Training Epoch: {epoch} Training Iteration: {n}  train_loss : {log.loss((epoch + n / 200) / 3):.5f}  train_items/s : {log.near(9000.):.2f}  lr : 0.001 ")
    return truth("599|600")


@positive("flashlight_asr", "flashlight/wav2letter Train.cpp (a record of padded names)")
def flashlight_asr(log):
    for k in range(1, 25):
        log.step(f"epoch: {k // 4:>8} | nupdates: {k * 1000:>12} | lr: 0.400000 | lrcriterion: 0.000000 | runtime: 00:0{k % 6}:41 | bch(ms): {log.near(140.):.2f} | smp(ms): 0.81 | fwd(ms): 45.10 | bwd(ms): 80.44 | optim(ms): 6.02 | loss: {log.loss(k / 25, 30, 4):>10.5f} | train-TER: {log.near(30.):.2f} | dev-loss: {log.near(9.):.5f} | hrs: {k * 1.3:>8.2f} | thrpt(sec/sec): 1224.1")
    return truth(24000)


@positive("tf_translate", "tensorflow/models tutorials/rnn/translate (perplexity for each bucket)")
def tf_translate(log):
    log.lines("Reading development and training data (limit: 0).\n  reading data line 100000\n  reading data line 200000")
    for n in range(200, 8001, 200):
        log.step(f"global step {n} learning rate 0.5000 step-time {log.near(2.8):.2f} perplexity {log.loss(n / 8000, 300, 1.2):.2f}")
        for bucket in range(4):
            log.line(f"  eval: bucket {bucket} perplexity {log.near(1.4):.2f}")
    return truth(8000)


@positive("char_rnn_tf", "sherjilozair/char-rnn-tensorflow train.py (the count of the run stands first)")
def char_rnn_tf(log):
    for n in range(446):
        log.step(f"{n}/446 (epoch {n // 223}), train_loss = {log.loss(n / 446):.3f}, time/batch = {log.near(.15):.3f}")
    return truth(445, total="446")


@positive("fairseq_old", "facebookresearch/fairseq 0.3 (| epoch 001:   1000 / 37483 loss=)")
def fairseq_old(log):
    log.line("| model lstm_luong_wmt_en_de, criterion CrossEntropyCriterion")
    for epoch in range(1, 4):
        for n in range(1000, 7001, 1000):
            log.step(f"| epoch {epoch:03}: {n:>6} / 7483 loss={log.near(8.):.2f} ({log.near(9.):.2f}), wps=4632, wpb=3514, bsz=126, lr=0.25, clip=100%, gnorm={log.near(1.)}")
        log.line(f"| epoch {epoch:03} | train loss {log.near(8.):.2f} | train ppl 255.12 | s/checkpoint 7921 | words/s 4632 | words/batch 3514 | bsz 126 | lr 0.25 | clip 100% | gnorm 0.8")
    return truth(2 * 7483 + 7000, epoch_steps=7483)


@positive("blocks", "mila-iqia/blocks extensions Printing (a block for each iteration)")
def blocks(log):
    for n in range(1, 60):
        log.line("-------------------------------------------------------------------------------")
        log.lines("Training status:\n\t batch_interrupt_received: False\n\t epoch_interrupt_received: False\n\t epoch_started: True\n\t epochs_done: 0")
        log.step(f"\t iterations_done: {n}")
        log.lines(f"\t received_first_batch: True\n\t resumed_from: None\n\t training_started: True\nLog records from the iteration {n}:\n\t decoder_cost_cost: {log.loss(n / 60, 200, 90)}")
    return truth(59)


@positive("sentence_transformers", "UKPLab/sentence-transformers 2.x SentenceTransformer.fit (Epoch and Iteration bars)")
def sentence_transformers(log):
    for epoch in range(3):
        log.raw("\r" + tqdm(epoch, 3, epoch * 60., desc="Epoch", unit="it"))
        log.raw("\n")
        for n in range(0, 501, 4):
            log.bar(tqdm(n, 500, n / 8.3, desc="Iteration"))
        log.raw("\n")
    log.raw("\x1b[A\r" + tqdm(3, 3, 180., desc="Epoch") + "\n")
    return truth(1500, epoch_steps="500|")


@positive("opennmt_lua", "OpenNMT/OpenNMT onmt/train/EpochState.lua")
def opennmt_lua(log):
    log.lines("[03/11/25 09:14:02 INFO] Preparing memory optimization...\n[03/11/25 09:14:02 INFO] Start training from epoch 1 to 3...")
    for epoch in range(1, 4):
        for n in range(50, 1201, 50):
            log.step(f"[{log.at('%m/%d/%y %H:%M:%S')} INFO] Epoch {epoch} ; Iteration {n}/1234 ; Optim SGD LR 1.000000 ; Source tokens/s {log.near(1500.):.0f} ; Perplexity {log.loss(epoch / 3, 900, 20):.2f}")
    return truth(2 * 1234 + 1200, epoch_steps=1234)


@positive("nematus", "EdinburghNLP/nematus nematus/train.py")
def nematus(log):
    for n in range(100, 3001, 100):
        log.step(f"[{log.at('%d/%m/%Y %H:%M:%S')}] Epoch: {n // 1100} Update: {n} Loss/word: {log.loss(n / 3000, 8.)} Words/sec: {log.near(3000.)} Sents/sec: {log.near(120.)}")
    return truth(3000)


@positive("flax_clm", "huggingface/transformers examples/flax/language-modeling/run_clm_flax.py")
def flax_clm(log):
    for n in range(100, 4001, 100):
        log.step(f"Step... ({n} | Loss: {log.loss(n / 4000)}, Learning Rate: {5e-5 * (1 - n / 4000)})")
        if n % 1000 == 0:
            log.line(f"Step... ({n} | Eval Loss: {log.near(2.)} | Eval Perplexity: {log.near(9.)})")
    return truth(4000)


@positive("bilm_tf", "allenai/bilm-tf bilm/training.py")
def bilm_tf(log):
    log.lines("Training for 3 epochs and 9000 batches\nfinished reading 1 files")
    for n in range(100, 3001, 100):
        log.step(f"Batch {n}, train_perplexity={log.loss(n / 3000, 9000, 60)}")
        log.line(f"Total time: {n * .41}")
    return truth(3000)


@positive("fastfold", "hpcaitech/FastFold train.py (rich logger, wrapped metrics)")
def fastfold(log):
    total = 0
    for epoch in range(3):
        for step in range(1, 41):
            total += 1
            log.line(f"[{log.at('%m/%d/%y %H:%M:%S')}] INFO     colossalai - colossalai - INFO: train.py:230 main")
            log.step(f"                    INFO     colossalai - colossalai - INFO: Training, Epoch: {epoch}, Step: {step}, Global_Step: {total}, Loss: distogram={log.near(4.):.3f} experimentally_resolved=0.693 fape={log.near(1.6):.3f}")
            log.line(f"                             lddt=3.912 masked_msa={log.near(3.):.3f} supervised_chi=0.937 violation={log.near(400.):.3f} unscaled_loss={log.near(10.):.3f} loss={log.near(160.):.3f} lddt_ca=0.010")
    return truth(total)


@positive("llamacpp_finetune", "ggml-org/llama.cpp common/train.cpp (train_opt_callback)")
def llamacpp_finetune(log):
    log.lines("main: total train_iterations 0\nmain: seen train_samples     0\nmain: seen train_tokens      0\nmain: completed train_epochs 0\nmain: lora_size = 88796064 bytes (84.7 MB)\nmain: number of training tokens: 808\nmain: begin training")
    for n in range(80):
        log.step(f"train_opt_callback: iter={n:>6} sample={n * 8 + 1}/744 sched={n / 100:.6f} loss={log.loss(n / 80, 9):.6f} dt=00:00:41 eta=01:12:20 |{'-' * (n % 9)}>")
    return truth("79|633", "")


@positive("ggml_opt", "ggml-org/llama.cpp ggml/src/ggml-opt.cpp (ggml_opt_epoch_callback_progress_bar)")
def ggml_opt(log):
    for epoch in range(2):
        for n in range(500, 60001, 500):
            bar = "=" * (n // 2400) + ">"
            log.raw(f"train: [{bar:<25}] data={n:06}/060000 loss={log.loss(n / 60000):.5f}±0.01120 acc={log.near(80.):.2f}±0.30% t=00:00:12 ETA=00:00:41 \r", step=True)
        log.line()
    return truth(120000, "samples|steps", epoch_steps="60000")


@positive("nemo_rl", "NVIDIA-NeMo/RL nemo_rl/algorithms/grpo.py (a heading and a list of results)")
def nemo_rl(log):
    for n in range(1, 30):
        log.step(f"\n{'=' * 25} Step {n}/1000 {'=' * 25}")
        log.lines(f"▶ Preparing batch...\n▶ Generating responses for batch of size 512...\n▶ Processing rewards...\n▶ Training policy...\n\n📊 Training Results:\n  • Loss: {log.loss(n / 30, .2, .01):.4f}\n  • Avg Reward: {log.near(.4):.4f}\n  • Mean Generation Length: {log.near(700.):.4f}\n\n⏱️  Timing:\n  • Total step time: {log.near(60.):.2f}s")
    return truth(29, total="1000|")


@positive("slime", "THUDM/slime slime/backends/megatron_utils/model.py (step and a dictionary)")
def slime(log):
    for n in range(60):
        log.line(f"[{log.at()}] rollout.py:300 - rollout {n}: {{'rollout/response_lengths': {log.near(900.)}, 'rollout/rewards': {log.near(.4)}}}")
        log.step(f"[{log.at()}] model.py:512 - step {n}: {{'train/loss': {log.loss(n / 60)}, 'train/pg_loss': {log.near(.01)}, 'train/grad_norm': {log.near(.3)}, 'train/lr-pg_0': 1e-06, 'train/step': {n}}}")
    return truth(59)


@positive("prime_rl", "PrimeIntellect-ai/prime-rl src/prime_rl/trainer (loguru with Step and bars)")
def prime_rl(log):
    for n in range(80):
        log.tick(30)
        log.step(f"\x1b[32m{log.at('%H:%M:%S')}\x1b[0m | \x1b[32m\x1b[1mSUCCESS\x1b[0m | \x1b[32m\x1b[1mStep {n} | Time: {log.near(30.):.2f}s | Loss: {log.near(.01):.4f} | Entropy: {log.near(.3):.4f} | Grad. Norm: {log.near(.02):.4f} | LR: 1.00e-06 | Throughput: {log.near(12000.):.0f} tokens/s | MFU: 31.2% | Peak Mem.: 41.2 GiB\x1b[0m")
    return truth(79)


@positive("automodel", "NVIDIA-NeMo/Automodel recipes/llm/train_ft.py")
def automodel(log):
    for n in range(100):
        log.tick(2)
        log.step(f"{log.at()} | INFO | root | step {n} | epoch {n // 50} | loss {log.loss(n / 100):.4f} | grad_norm {log.near(1.2):.4f} | lr 1.00e-05 | mem 21.18 GiB | tps {log.near(4000.):.2f}({log.near(4000.):.2f}/gpu) | num_label_tokens {800 + n * 37 % 200}")
    return truth(99)


@positive("mesh_transformer", "kingoflolz/mesh-transformer-jax device_train.py (step done, nothing else)")
def mesh_transformer(log):
    log.lines("connecting to coordinator\njax devices: 8\ncompiling train function\nTrain fn compiled in 41.22s")
    for n in range(1, 200):
        log.step(f"step {n} done")
    return truth(199)


@positive("paddlenlp", "PaddlePaddle/PaddleNLP examples/benchmark/glue/run_glue.py")
def paddlenlp(log):
    for n in range(10, 1201, 10):
        log.step(f"global step {n}/1200, epoch: {n // 400}, batch: {n % 400}, rank_id: 0, loss: {log.loss(n / 1200):f}, lr: 0.0000{n % 89 + 10}, speed: {log.near(5.):.4f} step/s")
    return truth(1200, total="1200")


@positive("mindformers", "mindspore-lab/mindformers core/callback/callback.py")
def mindformers(log):
    for n in range(20, 2001, 20):
        log.step(f"{log.ms()} - mindformers[mindformers/core/callback/callback.py:529] - INFO - {{ Epoch:[{1 + (n - 1) // 1000:>3}/  2], step:[{(n - 1) % 1000 + 1:>5}/ 1000], loss: {log.loss(n / 2000):.3f}, per_step_time: 512ms, lr: 9.9e-06, overflow cond: False, loss_scale: 65536.0, global_norm: [1.2], train_throughput_per_npu: 61.123T")
    return truth(2000, epoch_steps="1000", total="2000")


@positive("libai", "Oneflow-Inc/libai libai/utils/events.py")
def libai(log):
    for n in range(19, 1000, 20):
        log.step(f"[{log.at('%m/%d %H:%M:%S')} lb.utils.events]:  eta: 0:0{n % 9}:12  iteration: {n}/1000  consumed_samples: {(n + 1) * 32}  total_loss: {log.loss(n / 1000, 9):.3f}  time: 0.1201 s/iter  data_time: 0.0003 s/iter total_throughput: 266.50 samples/s lr: 1.20e-04  ")
    return truth(999, total="1000")
