"""TensorFlow, JAX, reinforcement learning, boosting and other frameworks; JSON, logfmt and hand-written lines."""
import json
import math
from datetime import timedelta

from .lib import positive, tqdm, truth


@positive("tf_estimator", "tensorflow/tensorflow python/training/basic_session_run_hooks.py (LoggingTensorHook, StepCounterHook), tensorflow/estimator")
def tf_estimator(log):
    log.lines("""
INFO:tensorflow:Using config: {'_model_dir': '/tmp/model', '_tf_random_seed': None, '_save_summary_steps': 100, '_save_checkpoints_secs': 600, '_keep_checkpoint_max': 5, '_log_step_count_steps': 100}
INFO:tensorflow:Calling model_fn.
INFO:tensorflow:Done calling model_fn.
INFO:tensorflow:Create CheckpointSaverHook.
INFO:tensorflow:Graph was finalized.
INFO:tensorflow:Running local_init_op.
INFO:tensorflow:Saving checkpoints for 0 into /tmp/model/model.ckpt.
""")
    log.step(f"INFO:tensorflow:loss = {2.3122}, step = 0")
    last = 0
    for step in range(100, 8001, 100):
        seconds = log.near(1.9)
        log.line(f"INFO:tensorflow:global_step/sec: {100 / seconds:.4f}")
        log.step(f"INFO:tensorflow:loss = {log.loss(step / 8000):.6g}, step = {step} ({seconds:.3f} sec)")
        last = step
    log.line("INFO:tensorflow:Saving checkpoints for 8001 into /tmp/model/model.ckpt.")
    log.line("INFO:tensorflow:Starting evaluation at 2025-03-11T09:44:02Z")
    for k in range(10, 101, 10):
        log.line(f"INFO:tensorflow:Evaluation [{k}/100]")
    log.line("INFO:tensorflow:Saving dict for global step 8001: accuracy = 0.9411, global_step = 8001, loss = 0.2011")
    log.line("INFO:tensorflow:Loss for final step: 0.31172.")
    return truth(last, notes="Evaluation [k/100] is evaluation; the evaluation's dict says global_step = 8001, which is accepted")


@positive("orbit_controller", "tensorflow/models orbit/controller.py")
def orbit(log):
    def out(text, step=False):
        log.line(f"I{log.at('%m%d %H:%M:%S.%f')} 139871 controller.py:393] {text}", step)
    out("train | step:      0 | training until step 5000...")
    last = 0
    for step in range(100, 5001, 100):
        log.tick(20)
        out(f"train | step: {step:6d} | steps/sec: {log.near(5.):6.1f} | output: \n    {{'accuracy': {.2 + step / 9000:.5f},\n     'learning_rate': 0.05,\n     'training_loss': {log.loss(step / 5000):.5f}}}", True)
        last = step
        if step % 1000 == 0:
            out(f"saved checkpoint to /tmp/m/ckpt-{step}.")
            out(f" eval | step: {step:6d} | running 20 steps of evaluation...")
            out(f" eval | step: {step:6d} | steps/sec: {4.9: 6.1f} | eval time: {4.1: 6.1f} sec | output: \n    {{'accuracy': 0.51, 'validation_loss': 1.62}}")
    return truth(last, total=5000, notes="'training until step 5000' tells the plan")


@positive("flax_imagenet", "google/flax examples/imagenet/train.py with google/CommonLoopUtils clu/metric_writers/logging_writer.py")
def flax_imagenet(log):
    def out(where, text, step=False):
        log.line(f"I{log.at('%m%d %H:%M:%S.%f')} 140211 {where}] {text}", step)
    out("main.py:51", "JAX process: 0 / 1")
    out("main.py:52", "JAX local devices: [CpuDevice(id=0)]")
    out("logging_writer.py:128", "[Hyperparameters] {'batch_size': 256, 'learning_rate': 0.1, 'num_epochs': 3.0, 'log_every_steps': 100, 'warmup_epochs': 1.0}")
    out("train.py:377", "Initial compilation, this might take some minutes...")
    out("train.py:383", "Initial compilation completed.")
    last = 0
    for step in range(100, 9001, 100):
        log.tick(30)
        out("logging_writer.py:48", f"[{step}] steps_per_second={log.near(3.3):.6g}, train_accuracy={step / 12000:.6g}, train_learning_rate={.1 * step / 9000:.6g}, train_loss={log.loss(step / 9000, 6.9, 2.1):.6g}", True)
        last = step
        if step % 3000 == 0:
            out("train.py:412", f"eval epoch: {step // 3000 - 1}, loss: 3.1123, accuracy: 35.12")
            out("logging_writer.py:48", f"[{step}] eval_accuracy=0.3512, eval_loss=3.1123")
            out("train.py:231", f"Saving checkpoint step {step}.")
    return truth(last, notes="[step] in brackets after an absl prefix; the last line of all has the step 9000 too")


@positive("flax_mnist", "google/flax examples/mnist/train.py (absl logging)")
def flax_mnist(log):
    log.line(f"I{log.at('%m%d %H:%M:%S.%f')} 139920 main.py:51] JAX process: 0 / 1")
    for epoch in range(1, 31):
        log.tick(11)
        log.step(f"I{log.at('%m%d %H:%M:%S.%f')} 139920 train.py:172] epoch:% 3d, train_loss: %.4f, train_accuracy: %.2f, test_loss: %.4f, test_accuracy: %.2f" % (epoch, log.loss(epoch / 30, .3, .01), 90 + epoch / 4, log.loss(epoch / 30, .2, .03), 92 + epoch / 5))
    return truth(30, "epochs", last_epoch=30, notes="one line per epoch, no steps")


@positive("maxtext", "AI-Hypercomputer/maxtext src/maxtext/common/metric_logger.py")
def maxtext(log):
    for key, value in (("base_emb_dim", 2048), ("global_batch_size_to_train_on", 32), ("learning_rate", 3e-05), ("max_target_length", 2048), ("per_device_batch_size", 4.0), ("steps", 150000), ("warmup_steps_fraction", 0.1)):
        log.line(f"Config param {key}: {value}")
    log.line("System Information: Jax Version: 0.4.38")
    log.line("number parameters: 1.104 billion")
    log.line("Per train step:\n Total TFLOPs: 54.10 \n split as 93.93% learnable weight flops and 6.07% attention flops")
    last = 0
    for step in range(0, 260):
        log.step(f"completed step: {step}, seconds: {log.near(2.1):.3f}, TFLOP/s/device: {log.near(25.):.3f}, Tokens/s/device: {log.near(3900.):.3f}, total_weights: 65536, loss: {log.loss(step / 400, 10.9, 4):.3f}, lm_loss: {log.loss(step / 400, 10.9, 4):.3f}, perplexity: {log.near(900.):.3f}")
        last = step
        if step and step % 100 == 0:
            for k in range(0, 6):
                log.line(f"Completed eval step {k}")
            log.line(f"Completed eval after train step {step}, loss=6.112, perplexity=451.240, total_weights=393216, avg_z_loss=0.000")
    return truth(last, notes="'Completed eval step k' is evaluation; 'Config param steps: 150000' tells a plan, which may be read or not")


@positive("t5x", "google-research/t5x t5x/train.py with google/CommonLoopUtils logging_writer")
def t5x(log):
    def out(where, text, step=False):
        log.line(f"I{log.at('%m%d %H:%M:%S.%f')} 140533121 {where}] {text}", step)
    out("train.py:607", "Starting main loop over steps 0-3000")
    out("train.py:614", 'Training with artificial "epochs" of 500 steps.')
    out("train.py:618", "Compiling train loop.")
    last = 0
    for epoch in range(6):
        out("train.py:668", f"Epoch {epoch} of 6")
        out("train.py:674", "BEGIN Train loop.")
        out("train.py:679", "Training for 500 steps.")
        for step in range(epoch * 500 + 50, epoch * 500 + 501, 50):
            log.tick(17)
            out("logging_writer.py:48", f"[{step}] collection=train accuracy={step / 4000:.6g}, cross_ent_loss={log.loss(step / 3000, 600000, 90000):.6g}, learning_rate=0.01, loss={log.loss(step / 3000, 9, 1.2):.6g}, timing/steps_per_second={log.near(2.9):.6g}", True)
            last = step
        out("train.py:747", "END Train loop.")
        out("train.py:771", "Saving checkpoint.")
        out("trainer.py:612", "Evaluating: words_v002.")
        out("logging_writer.py:48", f"[{last}] collection=training_eval/words_v002 accuracy=0.41, loss=2.2")
    out("train.py:588", "Finished.")
    return truth(last, total=3000, epoch_steps=500, last_epoch=5, notes="'over steps 0-3000' tells the plan")


@positive("jax_step_colon", "hand-written JAX loop: print(f'Step: {step}, Loss: …') as in many notebooks")
def jax_step_colon(log):
    log.line("[CpuDevice(id=0)]")
    last = 0
    for step in range(0, 5001, 100):
        log.step(f"Step: {step}, Loss: {log.loss(step / 5000, .7, .02):.6f}")
        last = step
    return truth(last)


@positive("optax_json", "hand-written optax loop that prints json.dumps per step")
def optax_json(log):
    log.line(json.dumps({"event": "start", "config": {"lr": 0.001, "batch": 128, "steps": 20000, "seed": 3}}))
    last = 0
    for step in range(50, 6001, 50):
        log.step(json.dumps({"step": step, "loss": round(log.loss(step / 20000, 4.1, 1), 5), "grad_norm": round(log.near(.9), 4), "lr": 0.001, "tokens": step * 65536, "elapsed": round(step * .031, 2)}))
        last = step
    return truth(last, notes="tokens is a further counter; the start event names steps: 20000, which may be read as the plan or not")


@positive("json_global_step", "hand-written trainers that log JSON with global_step, e.g. pythonjsonlogger")
def json_global_step(log):
    last = 0
    for step in range(10, 1201, 10):
        log.tick(7)
        log.step(json.dumps({"asctime": log.ms(), "levelname": "INFO", "name": "trainer", "message": "train", "epoch": step // 500, "global_step": step, "train/loss": log.loss(step / 1500), "samples_seen": step * 64, "gpu_mem_mb": 10231}))
        last = step
        if step % 400 == 0:
            log.line(json.dumps({"asctime": log.ms(), "levelname": "INFO", "name": "trainer", "message": "eval", "global_step": step, "eval/loss": .91, "eval/batches": 40}))
    return truth(last, last_epoch=last // 500)


@positive("json_batch", "hand-written trainers that log JSON with epoch and batch")
def json_batch(log):
    last, total = 0, 310
    for epoch in range(4):
        for batch in range(0, total, 5):
            log.step(json.dumps({"epoch": epoch, "batch": batch, "num_batches": total, "loss": round(log.loss((epoch + batch / total) / 4), 4)}, separators=(",", ":")))
            last = epoch * total + batch
        log.line(json.dumps({"epoch": epoch, "val_loss": 1.2, "val_acc": .61}, separators=(",", ":")))
    return truth(last, epoch_steps=total, last_epoch=3, notes="batch restarts each epoch; num_batches tells the epoch's length")


@positive("logfmt", "hand-written logfmt lines (key=value)")
def logfmt(log):
    last = 0
    log.line('ts=2025-03-11T09:14:02Z level=info msg="starting run" run_id=77123 batch_size=256 max_steps=4000 seed=9')
    for step in range(20, 2001, 20):
        log.tick(6)
        log.step(f'ts={log.at("%Y-%m-%dT%H:%M:%SZ")} level=info msg="train step" step={step} loss={log.loss(step / 4000):.4f} lr=3e-4 tokens={step * 524288} tok_s={int(log.near(181000))} mem_gib=31.2')
        last = step
        if step % 500 == 0:
            log.line(f'ts={log.at("%Y-%m-%dT%H:%M:%SZ")} level=info msg="checkpoint saved" path=ckpt/step_{step} took=3.1s')
    return truth(last, notes="max_steps=4000 may be read as the plan or not")


@positive("epoch_batch_words", "hand-written loop: print(f'Epoch {e}, Batch {i}/{n}, Loss: …')")
def epoch_batch_words(log):
    last = 0
    log.line("Training on cuda, 3 epochs, batch size 32")
    for epoch in range(1, 4):
        for batch in range(10, 201, 10):
            log.step(f"Epoch {epoch}, Batch {batch}/200, Loss: {log.loss((epoch - 1 + batch / 200) / 3):.4f}")
            last = (epoch - 1) * 200 + batch
        log.line(f"Epoch {epoch} finished. Validation loss: {1.1 / epoch:.4f}, accuracy: {60 + 8 * epoch:.2f}%")
    return truth(last, epoch_steps=200, last_epoch=3)


@positive("epoch_of_step_of", "hand-written loop: 'Epoch [1/5], Step [100/600], Loss: …' (yunjey/pytorch-tutorial tutorials/02-intermediate/convolutional_neural_network/main.py)")
def epoch_of_step_of(log):
    last = 0
    for epoch in range(1, 6):
        for i in range(100, 601, 100):
            log.step("Epoch [{}/{}], Step [{}/{}], Loss: {:.4f}".format(epoch, 5, i, 600, log.loss((epoch - 1 + i / 600) / 5, .6, .02)))
            last = (epoch - 1) * 600 + i
    log.line("Test Accuracy of the model on the 10000 test images: 98.91 %")
    return truth(last, total=3000, epoch_steps=600, last_epoch=5)


@positive("update_colon", "hand-written reinforcement learning loop: 'update N: …'")
def update_colon(log):
    last = 0
    for update in range(0, 1500, 10):
        log.step(f"update {update}: reward {log.near(update / 10, .2):.2f} value_loss {log.loss(update / 1500, 2, .1):.4f} entropy {log.near(.6):.3f}")
        last = update
    return truth(last)


@positive("ikostrikov_ppo", "ikostrikov/pytorch-a2c-ppo-acktr-gail main.py")
def ikostrikov(log):
    last = 0
    for j in range(0, 801, 10):
        steps = (j + 1) * 16 * 5
        mean = log.near(20 + j / 2, .1)
        log.step(f"Updates {j}, num timesteps {steps}, FPS {int(log.near(910))} \n Last 10 training episodes: mean/median reward {mean:.1f}/{mean - 1:.1f}, min/max reward {mean - 9:.1f}/{mean + 14:.1f}\n")
        last = j
    return truth(last, notes="two counters: updates 800 and timesteps 64080; timesteps as the clock is accepted with unit timesteps")


def sb3_table(log, rows):
    keys = []
    group = ""
    for key, value in rows:
        head, _, name = key.partition("/")
        if head != group:
            keys.append((head + "/", "", False))
            group = head
        text = f"{value:<8.3g}" if isinstance(value, float) else str(value)
        keys.append(("   " + name, text, name == "total_timesteps"))
    width = max(len(k) for k, _, _ in keys)
    values = max(len(v) for _, v, _ in keys)
    log.line("-" * (width + values + 7))
    for key, value, step in keys:
        log.line(f"| {key}{' ' * (width - len(key))} | {value}{' ' * (values - len(value))} |", step)
    log.line("-" * (width + values + 7))


@positive("sb3_ppo", "DLR-RM/stable-baselines3 stable_baselines3/common/logger.py, on_policy_algorithm.py, ppo/ppo.py")
def sb3_ppo(log):
    log.line("Using cpu device")
    log.line("Wrapping the env with a `Monitor` wrapper")
    log.line("Wrapping the env in a DummyVecEnv.")
    last = 0
    for it in range(1, 49):
        last = it * 2048
        rows = [("rollout/ep_len_mean", log.near(22. + it * 7)), ("rollout/ep_rew_mean", log.near(22. + it * 7)), ("time/fps", int(log.near(1100))), ("time/iterations", it), ("time/time_elapsed", it * 2), ("time/total_timesteps", last)]
        if it > 1:
            rows += [("train/approx_kl", log.near(.008)), ("train/clip_fraction", log.near(.1)), ("train/clip_range", 0.2), ("train/entropy_loss", -.6), ("train/explained_variance", log.near(.2, 3)), ("train/learning_rate", .0003), ("train/loss", log.near(7.)), ("train/n_updates", (it - 1) * 10), ("train/policy_gradient_loss", -.012), ("train/value_loss", log.near(40.))]
        sb3_table(log, rows)
        if it % 12 == 0:
            log.line(f"Eval num_timesteps={last}, episode_reward=311.20 +/- 40.11")
            log.line("Episode length: 311.20 +/- 40.11")
            log.line("New best mean reward!")
    return truth(last, "timesteps", notes="a table; total_timesteps is the clock (iterations and n_updates beside it). The first step line is the total_timesteps row; the iterations row, two rows before, is accepted")


@positive("sb3_dqn", "DLR-RM/stable-baselines3 stable_baselines3/common/logger.py, off_policy_algorithm.py, dqn/dqn.py")
def sb3_dqn(log):
    log.line("Using cuda device")
    last = 0
    for episode in range(4, 401, 4):
        last += int(log.near(90 + episode, .2))
        rows = [("rollout/ep_len_mean", log.near(30. + episode / 3)), ("rollout/ep_rew_mean", log.near(30. + episode / 3)), ("rollout/exploration_rate", max(.05, 1 - episode / 200)), ("time/episodes", episode), ("time/fps", int(log.near(2100))), ("time/time_elapsed", last // 2000), ("time/total_timesteps", last)]
        if last > 1000:
            rows += [("train/learning_rate", .0001), ("train/loss", log.near(.02, .9)), ("train/n_updates", (last - 1000) // 4)]
        sb3_table(log, rows)
    return truth(last, "timesteps", notes="total_timesteps rises unevenly; episodes 400 beside it")


@positive("cleanrl_ppo", "vwxyzjn/cleanrl cleanrl/ppo.py")
def cleanrl(log):
    last = 0
    step = 0
    for iteration in range(60):
        for _ in range(log.random.randint(1, 4)):
            step = iteration * 512 + log.random.randint(max(step - iteration * 512, 0) + 1, 400 + (_ * 20)) if step < iteration * 512 + 380 else step + 4
            log.step(f"global_step={step}, episodic_return=[{log.near(20. + iteration * 5):.0f}.]")
            last = step
        log.line(f"SPS: {int(log.near(1400))}")
        step = max(step, (iteration + 1) * 512)
    return truth(last, "timesteps", notes="'SPS:' lines are a speed; global_step may stand still when two environments end at once; unit steps is accepted")


@positive("cleanrl_dqn", "vwxyzjn/cleanrl cleanrl/dqn.py")
def cleanrl_dqn(log):
    last = 0
    for _ in range(150):
        last += log.random.randint(12, 180)
        log.step(f"global_step={last}, episodic_return=[{log.near(100., .8):.0f}.]")
        if last > 10000:
            log.line(f"SPS: {int(log.near(800))}")
    return truth(last, "timesteps", notes="unit steps is accepted")


@positive("rllib_tune", "ray-project/ray python/ray/tune/experimental/output.py (RLlib PPO)")
def rllib(log):
    log.lines("""
2025-03-11 09:14:02,318	INFO worker.py:1821 -- Started a local Ray instance. View the dashboard at 127.0.0.1:8265
╭────────────────────────────────────────────────────────╮
│ Configuration for experiment     PPO_2025-03-11_09-14  │
├────────────────────────────────────────────────────────┤
│ Search algorithm                 BasicVariantGenerator │
│ Scheduler                        FIFOScheduler         │
│ Number of trials                 1                     │
╰────────────────────────────────────────────────────────╯
View detailed results here: /home/user/ray_results/PPO_2025-03-11_09-14
Trial status: 1 PENDING
Current time: 2025-03-11 09:14:07. Total running time: 0s
Logical resource usage: 3.0/8 CPUs, 0/0 GPUs
Trial PPO_CartPole-v1_4b1f2_00000 started with configuration:
╭──────────────────────────────────────╮
│ Trial PPO_CartPole-v1_4b1f2_00000 config │
├──────────────────────────────────────┤
│ lr                           0.0003  │
│ train_batch_size                4000 │
╰──────────────────────────────────────╯
""")
    last = 0
    for it in range(1, 41):
        log.tick(6)
        log.step(f"Trial PPO_CartPole-v1_4b1f2_00000 finished iteration {it} at {log.at()}. Total running time: {it * 6 // 60}min {it * 6 % 60}s")
        log.line("╭──────────────────────────────────────────────╮")
        log.line("│ Trial PPO_CartPole-v1_4b1f2_00000 result     │")
        log.line("├──────────────────────────────────────────────┤")
        for key, value in (("env_runners/episode_len_mean", f"{log.near(20. + it * 5):.2f}"), ("env_runners/episode_return_mean", f"{log.near(20. + it * 5):.2f}"), ("num_env_steps_sampled_lifetime", it * 4000), ("num_episodes_lifetime", it * 31)):
            log.line(f"│ {key:<34}{value:>10} │")
        log.line("╰──────────────────────────────────────────────╯")
        last = it
    log.line(f"Trial PPO_CartPole-v1_4b1f2_00000 completed after 40 iterations at {log.at()}. Total running time: 4min 3s")
    return truth(last, notes="iteration 40; num_env_steps_sampled_lifetime 160000 is accepted with unit timesteps")


@positive("rllib_print", "ray-project/ray rllib/examples/utils.py (args.no_tune)")
def rllib_print(log):
    for i in range(60):
        tail = f" R(eval)={log.near(30. + i * 4)}" if i % 5 == 4 else ""
        log.step(f"iter={i} R={log.near(20. + i * 4)}{tail}")
    return truth(59)


@positive("xgboost", "dmlc/xgboost python-package/xgboost/callback.py (EvaluationMonitor)")
def xgboost(log):
    for i in range(0, 300, 5):
        log.step(f"[{i}]\ttrain-rmse:{log.loss(i / 300, 3, .3, .005):.5f}\teval-rmse:{log.loss(i / 300, 3, .5, .005):.5f}")
    log.step(f"[299]\ttrain-rmse:{.30112:.5f}\teval-rmse:{.50233:.5f}")
    return truth(299, notes="boosting rounds in brackets at the line's start")


@positive("lightgbm", "lightgbm-org/LightGBM python-package/lightgbm/callback.py (log_evaluation)")
def lightgbm(log):
    log.lines("""
[LightGBM] [Info] Auto-choosing row-wise multi-threading, the overhead of testing was 0.003911 seconds.
You can set `force_row_wise=true` to remove the overhead.
[LightGBM] [Info] Total Bins 6132
[LightGBM] [Info] Number of data points in the train set: 7000, number of used features: 28
[LightGBM] [Info] Start training from score 0.530600
Training until validation scores don't improve for 50 rounds
""")
    for i in range(10, 501, 10):
        log.step(f"[{i}]\ttrain's auc: {.99 - log.loss(i / 500, .3, .01):g}\tvalid's auc: {.95 - log.loss(i / 500, .3, .05):g}")
    log.line("Did not meet early stopping. Best iteration is:\n[481]\ttrain's auc: 0.981\tvalid's auc: 0.913")
    return truth(500, notes="the last line repeats an earlier round, [481]")


@positive("caffe", "BVLC/caffe src/caffe/solver.cpp, solvers/sgd_solver.cpp (glog)")
def caffe(log):
    def out(where, text, step=False):
        log.line(f"I{log.at('%m%d %H:%M:%S.%f')} {21133:5d} {where}] {text}", step)
    out("solver.cpp:45", "Initializing solver from parameters: ")
    log.line("test_iter: 100\ntest_interval: 500\nbase_lr: 0.01\ndisplay: 100\nmax_iter: 10000\nlr_policy: \"inv\"\nsnapshot: 5000")
    out("solver.cpp:57", "Solver scaffolding done.")
    out("solver.cpp:289", "Solving LeNet")
    out("solver.cpp:290", "Learning Rate Policy: inv")
    last = 0
    for it in range(0, 10000, 100):
        log.tick(3)
        if it % 500 == 0:
            out("solver.cpp:347", f"Iteration {it}, Testing net (#0)", it == 0)
            out("solver.cpp:414", f"    Test net output #0: accuracy = {.1 + it / 11500:.4g}")
        out("solver.cpp:239", f"Iteration {it} ({log.near(32.):.6g} iter/s, {log.near(3.1):.6g}s/100 iters), loss = {log.loss(it / 10000):.6g}", True)
        out("solver.cpp:258", f"    Train net output #0: loss = {log.loss(it / 10000):.6g} (* 1 = {log.loss(it / 10000):.6g} loss)")
        out("sgd_solver.cpp:112", f"Iteration {it}, lr = {.01 / (1 + it / 5000):.6g}")
        last = it
    out("solver.cpp:464", "Snapshotting to binary proto file lenet_iter_10000.caffemodel")
    out("solver.cpp:327", "Iteration 10000, loss = 0.00311")
    out("solver.cpp:347", "Iteration 10000, Testing net (#0)")
    out("solver.cpp:332", "Optimization Done.")
    return truth(10000, notes="max_iter: 10000 in the solver's parameters may be read as the plan or not")


@positive("darknet", "pjreddie/darknet examples/detector.c, src/yolo_layer.c")
def darknet(log):
    log.line("yolov3-voc")
    log.line("layer     filters    size              input                output")
    for i in range(6):
        log.line(f"{i:5d} conv  {32 * (i + 1):5d}  3 x 3 / 1   416 x 416 x   3   ->   416 x 416 x{32 * (i + 1):4d}  0.299 BFLOPs")
    log.line("Loading weights from darknet53.conv.74...Done!")
    log.line("Learning Rate: 0.001, Momentum: 0.9, Decay: 0.0005")
    log.line("Resizing\n608")
    last = 0
    for i in range(1, 81):
        log.line("Loaded: %lf seconds" % log.near(.00005))
        for region in (82, 94, 106) * 2:
            log.line("Region %d Avg IOU: %f, Class: %f, Obj: %f, No Obj: %f, .5R: %f, .75R: %f,  count: %d" % (region, log.near(.4), log.near(.5), log.near(.3), log.near(.01), log.near(.4), log.near(.1), log.random.randint(1, 14)))
        log.step("%d: %f, %f avg, %f rate, %f seconds, %d images" % (i, log.loss(i / 80, 900, 3), log.loss(i / 80, 900, 4), .001, log.near(3.1), i * 64))
        if i % 40 == 0:
            log.line("Saving weights to backup/yolov3-voc.backup")
        if i % 10 == 0:
            log.line("Resizing\n%d" % (320 + 32 * log.random.randint(0, 9)))
        last = i
    return truth(last, notes="'N: loss, avg avg, …' among eight other lines a step; images is a further counter")


@positive("mxnet_module", "apache/mxnet python/mxnet/callback.py (Speedometer, LogValidationMetricsCallback)")
def mxnet(log):
    log.line("INFO:root:start with arguments Namespace(batch_size=64, disp_batches=100, gpus=None, lr=0.05, num_epochs=4, num_examples=60000)")
    for epoch in range(4):
        for count in range(100, 938, 100):
            log.step(f"INFO:root:Epoch[{epoch}] Batch [{count - 100}-{count}]\tSpeed: {log.near(31000.):.2f} samples/sec\taccuracy={.8 + epoch / 30:f}")
        log.line(f"INFO:root:Epoch[{epoch}] Train-accuracy={.9:f}")
        log.line(f"INFO:root:Epoch[{epoch}] Time cost=1.951")
        log.line(f'INFO:root:Saved checkpoint to "mlp-{epoch + 1:04d}.params"')
        log.line(f"INFO:root:Epoch[{epoch}] Validation-accuracy={.93:f}")
    return truth("", last_epoch=3, notes="a range [0-100]; its end is the batch, which restarts each epoch (937 batches, never printed): epoch 3, batch 900 (>= 3*900+900 = 3600)")


@positive("mxnet_gluon", "apache/mxnet python/mxnet/gluon/contrib/estimator/event_handler.py (LoggingHandler)")
def mxnet_gluon(log):
    log.line("Training begin: using optimizer SGD with current learning rate 0.0100 ")
    log.line("Train for 3 epochs.")
    last = 0
    for epoch in range(3):
        log.line(f"[Epoch {epoch}] Begin, current learning rate: 0.0100")
        for batch in range(0, 469, 10):
            log.step(f"[Epoch {epoch}][Batch {batch}][Samples {(batch + 1) * 128}] time/interval: {log.near(.121):.3f}s training accuracy: {.3 + batch / 900:.4f}, training softmaxcrossentropyloss: {log.loss((epoch + batch / 469) / 3):.4f}")
        log.line(f"[Epoch {epoch}] Finished in 5.911s, training accuracy: 0.8812, validation accuracy: 0.9011")
    log.line("Train finished using total 18s with 3 epochs. training accuracy: 0.9511")
    return truth("", last_epoch=2, notes="Batch and Samples restart each epoch (469 batches, never printed): epoch 2, batch 460 (>= 2*460+460 = 1380)")


@positive("paddledetection", "PaddlePaddle/PaddleDetection ppdet/engine/callbacks.py, ppdet/utils/logger.py")
def paddledet(log):
    log.line("loading annotations into memory...\nDone (t=0.61s)\ncreating index...\nindex created!")
    last, total = 0, 1173
    for epoch in range(3):
        for i in range(0, total, 20):
            log.tick(6)
            part = (epoch + i / total) / 12
            log.step(f"[{log.at('%m/%d %H:%M:%S')}] ppdet.engine INFO: Epoch: [{epoch}] [{i:4d}/{total}] learning_rate: {.001 * min(1, i / 1000):.6f} loss_rpn_cls: {log.loss(part, .7, .1):.6f} loss_bbox_cls: {log.loss(part, 2, .2):.6f} loss: {log.loss(part, 3, .5):.6f} eta: {timedelta(seconds=int((12 * total - i) * .3))} batch_cost: {log.near(.3):.4f} data_cost: {.0006:.4f} ips: {log.near(3.3):.4f} images/s, max_mem_reserved: 3911 MB, max_mem_allocated: 3411 MB")
            last = epoch * total + i
        log.line(f"[{log.at('%m/%d %H:%M:%S')}] ppdet.utils.checkpoint INFO: Save checkpoint: output/faster_rcnn")
        for k in range(0, 401, 100):
            log.line(f"[{log.at('%m/%d %H:%M:%S')}] ppdet.engine INFO: Eval iter: {k}")
        log.line(f"[{log.at('%m/%d %H:%M:%S')}] ppdet.engine INFO: Total sample number: 490, average FPS: 14.212")
    return truth(last, epoch_steps=total, last_epoch=2, notes="'Eval iter: k' is evaluation")


@positive("paddleocr", "PaddlePaddle/PaddleOCR tools/program.py")
def paddleocr(log):
    def out(text, step=False):
        log.line(f"[{log.at('%Y/%m/%d %H:%M:%S')}] root INFO: {text}", step)
    for text in ("Architecture : ", "    algorithm : CRNN", "Global : ", "    epoch_num : 72", "    print_batch_step : 10", "train with paddle 2.6.1 and device Place(gpu:0)", "train dataloader has 212 iters", "valid dataloader has 31 iters", "During the training process, after the 0th iteration, an evaluation is run every 400 iterations"):
        out(text)
    last = 0
    for step in range(10, 1201, 10):
        log.tick(5)
        epoch = 1 + step // 212
        out(f"epoch: [{epoch}/72], iter: {step}, loss: {log.loss(step / 5000, 30, 1):.6f}, lr: {.0005:.6f}, acc: {step / 3000:.6f}, norm_edit_dis: {.2:.6f}, reader_cost: {.00091:.5f} s, batch_cost: {log.near(.2):.5f} s, samples: 1280, ips: {log.near(610.):.5f}", True)
        last = step
        if step % 400 == 0:
            for k in (0, 11, 31):
                log.raw("\r" + tqdm(k, 31, k * .12, desc="eval model:"))
            log.line()
            out("cur metric, acc: 0.31, norm_edit_dis: 0.61, fps: 812.2")
            out("best metric, acc: 0.31, norm_edit_dis: 0.61, best_epoch: 2")
    return truth(last, total=72 * 212, epoch_steps=212, last_epoch=1 + last // 212, notes="iter is global; the epoch's length stands in 'train dataloader has 212 iters'; the plan needs both")


@positive("paddle_hapi", "PaddlePaddle/Paddle python/paddle/hapi/progressbar.py (verbose=2)")
def paddle_hapi(log):
    log.line("The loss value printed in the log is the current step, and the metric is the average value of previous steps.")
    last = 0
    for epoch in range(1, 4):
        log.line(f"Epoch {epoch}/3")
        for i in range(10, 939, 10):
            log.step(f"step {i:3d}/938 - loss: {log.loss((epoch - 1 + i / 938) / 3):.4f} - acc: {.5 + i / 2100:.4f} - {log.near(14.):.0f}ms/step")
        log.step(f"step 938/938 - loss: {.2 / epoch:.4f} - acc: {.95:.4f} - 14ms/step")
        last = epoch * 938
        log.line("save checkpoint at /tmp/ckpt/%d" % (epoch - 1))
        log.line("Eval begin...")
        for i in range(10, 157, 10):
            log.line(f"step {i:3d}/157 - loss: {.11:.4f} - acc: {.96:.4f} - 9ms/step")
        log.line("step 157/157 - loss: 0.1001 - acc: 0.9611 - 9ms/step")
        log.line("Eval samples: 10000")
    return truth(last, total=3 * 938, epoch_steps=938, last_epoch=3, notes="evaluation has the same form with another total (157), announced by 'Eval begin...'")


@positive("nemo_printer", "NVIDIA/NeMo nemo/lightning/pytorch/callbacks/progress_printer.py")
def nemo(log):
    log.line("[NeMo I 2025-03-11 09:14:02 nemo_logger:145] Experiments will be logged at nemo_experiments/default/2025-03-11_09-14-02")
    log.line("[NeMo I 2025-03-11 09:14:05 utils:302] Building GPTDataset splits with sizes=[1600, 800, 50]")
    last = 0
    for i in range(0, 200):
        log.step(f"Training epoch 0, iteration {i}/199 | lr: {1.5e-7 * (i + 1):.4} | global_batch_size: 8 | global_step: {i} | peak_memory: 7.1e+10 | reduced_train_loss: {log.loss(i / 200, 11, 6):.4} | train_step_timing in s: {log.near(.61):.4}" + (f" | consumed_samples: {(i + 1) * 8}" if i else ""))
        last = i
        if i == 99:
            for k in range(4):
                log.line(f"Validation: iteration {k + 1}/4")
    return truth(last, total=200, last_epoch=0, notes="iteration i/199 counts from 0: the plan is 200 (199 is accepted)")


@positive("nemo_lightning", "NVIDIA/NeMo bars of Lightning with v_num, reduced_train_loss, global_step, consumed_samples (nemo/utils/callbacks; Lightning tqdm_progress.py)")
def nemo_lightning(log):
    log.line("[NeMo I 2025-03-11 09:14:02 exp_manager:450] ExpManager schema")
    log.line("[NeMo W 2025-03-11 09:14:05 nemo_logging:361] The `use_distributed_sampler` is False")
    last = 0
    for i in range(0, 151):
        text = tqdm(i, 5000, i * 1.3, desc="Epoch 0: ", noinv=True, postfix="" if i == 0 else f"v_num=0, reduced_train_loss={log.loss(i / 400, 10, 6):.3g}, global_step={i - 1}.0, consumed_samples={i * 256}.0, train_step_timing in s=1.300")
        log.bar(text)
        last = i
    log.line("")
    return truth(last, total=5000, epoch_steps=5000, last_epoch=0, notes="the bar says i, the postfix global_step i-1")


@positive("yolox", "Megvii-BaseDetection/YOLOX yolox/core/trainer.py, utils/logger.py (loguru with colours)")
def yolox(log):
    def out(where, text, step=False):
        log.line(f"\x1b[32m{log.at()}\x1b[0m | \x1b[1mINFO    \x1b[0m | \x1b[36myolox.core.trainer\x1b[0m:\x1b[36m{where}\x1b[0m - \x1b[1m{text}\x1b[0m", step)
    out(132, "args: Namespace(batch_size=16, devices=1, exp_file='exps/s.py', fp16=False)")
    out(157, "init prefetcher, this might take one minute or less...")
    out(196, "Training start...")
    last, total = 0, 391
    for epoch in range(1, 5):
        out(218, f"---> start train epoch{epoch}")
        for i in range(10, total + 1, 10):
            log.tick(3)
            part = (epoch - 1 + i / total) / 300
            out(270, f"epoch: {epoch}/300, iter: {i}/{total}, gpu mem: 5611Mb, mem: 4.1Gb, iter_time: {log.near(.31):.3f}s, data_time: {.004:.3f}s, total_loss: {log.loss(part * 9, 16, 4):.1f}, iou_loss: {4.:.1f}, l1_loss: 0.0, conf_loss: {6.:.1f}, cls_loss: {2.:.1f}, lr: {1e-3 * part:.3e}, size: 640, ETA: 10:{i % 60:02d}:11", True)
            last = (epoch - 1) * total + i
        out(397, f"Save weights to ./YOLOX_outputs/s")
    return truth(last, total=300 * total, epoch_steps=total, last_epoch=4)


@positive("loguru_plain", "Delgan/loguru default format around a hand-written step line")
def loguru(log):
    last = 0
    for step in range(1, 301):
        log.tick(.7)
        log.step(f"{log.ms('.')} | INFO     | __main__:train:{88} - step {step} | loss {log.loss(step / 300):.4f} | lr 3.00e-04 | {log.near(91.):.0f} samples/s")
        last = step
        if step % 100 == 0:
            log.line(f"{log.ms('.')} | SUCCESS  | __main__:save:41 - wrote checkpoint {step // 100}")
    return truth(last)


@positive("py_logging_prefix", "python logging with asctime, name, level and line number around a hand-written line")
def py_logging(log):
    last = 0
    log.line(f"{log.ms()} INFO     [train.py:211] Namespace(lr=0.001, batch_size=64, epochs=10, seed=42)")
    for epoch in range(2):
        for i in range(0, 500, 10):
            log.tick(2)
            log.step(f"{log.ms()} INFO     [train.py:{143}] epoch={epoch} iter={i}/500 loss={log.loss((epoch + i / 500) / 10):.4f} lr=0.001000 eta=00:{(500 - i) // 30:02d}:11")
            last = epoch * 500 + i
        log.line(f"{log.ms()} INFO     [train.py:{167}] epoch={epoch} validation accuracy={.61 + epoch / 20:.4f}")
    return truth(last, epoch_steps=500, last_epoch=1)


@positive("absl_step", "abseil logging around a hand-written line: I0311 … train.py:90] step: 100 loss: …")
def absl_step(log):
    last = 0
    for step in range(0, 10001, 100):
        log.tick(9)
        log.step(f"I{log.at('%m%d %H:%M:%S.%f')} 140113 train.py:90] step: {step} loss: {log.loss(step / 10000, 4, 1):.5f}")
        last = step
    return truth(last)


@positive("wandb_console", "wandb/wandb console lines around a hand-written loop")
def wandb(log):
    log.lines("""
wandb: Currently logged in as: someone (team). Use `wandb login --relogin` to force relogin
wandb: Tracking run with wandb version 0.19.8
wandb: Run data is saved locally in /home/u/wandb/run-20250311_091402-k2j1x8a0
wandb: Run `wandb offline` to turn off syncing.
wandb: Syncing run dry-lake-17
wandb: ⭐️ View project at https://wandb.ai/team/words
wandb: 🚀 View run at https://wandb.ai/team/words/runs/k2j1x8a0
""")
    last = 0
    for step in range(0, 2000, 10):
        log.step(f"[{step:>5}/2000] train_loss: {log.loss(step / 2000):.4f} lr: {3e-4:.2e}")
        last = step
    log.lines("""
wandb: 
wandb: Run history:
wandb:          epoch ▁▁▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▇▇▇▇████
wandb:    global_step ▁▁▁▁▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▇▇▇▇████
wandb:     train_loss █▆▅▄▃▃▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
wandb: 
wandb: Run summary:
wandb:          epoch 3
wandb:    global_step 1999
wandb:     train_loss 0.31221
wandb: 
wandb: 🚀 View run dry-lake-17 at: https://wandb.ai/team/words/runs/k2j1x8a0
wandb: Synced 5 W&B file(s), 0 media file(s), 0 artifact file(s) and 0 other file(s)
wandb: Find logs at: ./wandb/run-20250311_091402-k2j1x8a0/logs
""")
    return truth(last, total=2000, notes="the summary's global_step 1999 is accepted at the end")
