//! The words that trainings, and other programs, use around their numbers.
//!
//! A word is evidence, never a condition: a counter without a known word can be the clock, and a counter with one
//! need not be.

use std::sync::LazyLock;

/// What a word says about the numbers beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Counts steps under this name.
    Step(StepName),
    /// Counts steps of an environment.
    Timestep,
    /// Counts episodes.
    Episode,
    /// Counts samples.
    Sample,
    /// Counts tokens.
    Token,
    /// Counts epochs.
    Epoch,
    /// A quantity that only a training or an evaluation prints: a loss, an accuracy, a reward.
    Metric,
    /// A quantity that many programs print: a time, a speed, an amount of memory.
    Quantity,
    /// The number is a setting, a duration or a rate, whatever other word there is: `warmup steps`.
    Setting,
    /// The number is the length of the run: `max steps`.
    Length,
    /// The line is about an evaluation.
    Evaluation,
    /// The line is about training.
    Training,
    /// The line is about work before or beside the training.
    Preparation,
    /// The line is about the use of a model: inference, serving, generation.
    Inference,
    /// The line is about clusters or about a system of equations, whose numbers have the names of a training's.
    Solver,
    /// Unknown.
    Unknown,
}

/// What a log calls its steps, best last. Of two names in one line the better one counts: iterations are often
/// parts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepName {
    /// `batch`, `minibatch`: often restarts with each epoch.
    Batch,
    /// `iter`, `iteration`, `round`.
    Iteration,
    /// `step`, `update`.
    Step,
    /// `global_step`, `num_updates`.
    GlobalStep,
}

/// What a lower-case word says.
pub fn meaning(word: &[u8]) -> Meaning {
    let vocabulary = &*VOCABULARY;
    let first = usize::from(word.first().map_or(0, |b| b.wrapping_sub(b'a')));
    let Some(letter) = vocabulary.get(first) else {
        return meaning_of_losses(word);
    };
    let same_length = letter.words.get(word.len()).map_or(&[][..], Vec::as_slice);
    if let Some((_, meaning)) = same_length.iter().find(|(known, _)| *known == word) {
        return *meaning;
    }
    if contains_loss(word) {
        return Meaning::Metric;
    }
    let beginnings = &letter.beginnings;
    match beginnings
        .iter()
        .find(|(beginning, _)| word.starts_with(beginning))
    {
        Some((_, meaning)) => *meaning,
        None => meaning_of_number(word),
    }
}

/// `nupdates`, `nsamples`: how many of these there were.
fn meaning_of_number(word: &[u8]) -> Meaning {
    const SHORTEST: usize = 4;
    let counted = match word {
        [b'n', counted @ ..] if counted.len() >= SHORTEST => meaning(counted),
        _ => Meaning::Unknown,
    };
    match counted {
        Meaning::Step(_)
        | Meaning::Timestep
        | Meaning::Episode
        | Meaning::Sample
        | Meaning::Token => counted,
        _ => Meaning::Unknown,
    }
}

/// What a word says that begins with no letter of the alphabet.
fn meaning_of_losses(word: &[u8]) -> Meaning {
    match contains_loss(word) {
        true => Meaning::Metric,
        false => Meaning::Unknown,
    }
}

/// `box_loss` is two words, `valloss` is one.
fn contains_loss(word: &[u8]) -> bool {
    word.windows(4).any(|part| part == b"loss")
}

/// The words that begin with one letter, for looking up.
#[derive(Default)]
struct Letter {
    /// By length.
    words: Vec<Vec<(&'static [u8], Meaning)>>,
    beginnings: Vec<(&'static [u8], Meaning)>,
}

static VOCABULARY: LazyLock<[Letter; 26]> = LazyLock::new(|| {
    let mut letters: [Letter; 26] = Default::default();
    let place = |word: &[u8]| usize::from(word[0] - b'a');
    for (meaning, words) in WORDS {
        for word in words.split(' ').map(str::as_bytes) {
            let by_length = &mut letters[place(word)].words;
            by_length.resize(by_length.len().max(word.len() + 1), Vec::new());
            by_length[word.len()].push((word, meaning));
        }
    }
    for (meaning, words) in BEGINNINGS {
        for word in words.split(' ').map(str::as_bytes) {
            letters[place(word)].beginnings.push((word, meaning));
        }
    }
    letters
});

/// Words with one meaning.
const WORDS: [(Meaning, &str); 17] = [
    (
        Meaning::Step(StepName::Step),
        "step steps update updates upd stp schritt schritte paso passo",
    ),
    (Meaning::Step(StepName::GlobalStep), "globalstep gstep"),
    (
        Meaning::Step(StepName::Iteration),
        "iter iters iterate iteration iterations it its itr itrs i idx round rounds tick generation gen niter",
    ),
    (
        Meaning::Step(StepName::Batch),
        "batch batches minibatch minibatches ba bidx batchidx",
    ),
    (
        Meaning::Timestep,
        "timestep timesteps envstep envsteps frames",
    ),
    (Meaning::Episode, "episode episodes eps game games"),
    (
        Meaning::Sample,
        "sample samples samp image images imgs img examples sequences seqs instances",
    ),
    (Meaning::Token, "token tokens toks tok"),
    (Meaning::Epoch, "epoch epochs ep epo epoche epochen epoca"),
    (Meaning::Evaluation, "val dev"),
    (
        Meaning::Training,
        "training train trainer fit learning learner",
    ),
    // Benchmarks of language models: who names one without a word of training evaluates.
    (
        Meaning::Inference,
        "tasks problems url prompts mmlu hellaswag gsm humaneval truthfulqa winogrande mbpp piqa boolq",
    ),
    (
        Meaning::Solver,
        "inertia imbalance nsplit kmeans centroids centroid scf ecut ethr eigenvalue eigenvalues krylov simplex presolve \
     incumbent radius",
    ),
    (
        Meaning::Length,
        "max total planned optimization until num scheduled",
    ),
    // After one of these, or before one, a count is no position in the training.
    (
        Meaning::Setting,
        "per warmup save saving logging log every accumulation accum remaining next see size seed \
     interval freq frequency patience number limit left rate decay workers worker port pid version \
     layers layer hidden params parameters skipped skip skipping line best length len trial trials \
     fold rank node job task request id attempt retry row page chunk shard file files item items \
     document documents docs lines frame block class cluster vector vectors points user users record \
     records partition offset tile sub script cv",
    ),
    (
        Meaning::Metric,
        "lr acc accuracy top grad gnorm gradnorm ppl perplexity reward rew rewards return returns mfu kl \
     elbo entropy mse rmse mae nll ce bce bpb bpc bpt psnr ssim fid auc auroc map iou miou dice f1 \
     recall precision wer cer bleu err error cost score fitness objective logloss criterion \
     advantage ler wps ups likelihood ll mrr ndcg rms bcer bwer",
    ),
    (
        Meaning::Quantity,
        "tensors time dt elapsed eta ram mem memory rss gpu vram cuda throughput speed wall walltime norm ms sec \
     secs seconds fps loader duration min minutes hours mb gb gib mib",
    ),
];

/// Beginnings of words. Those of preparation are from the output of transformers, datasets, huggingface_hub, tokenizers, pip,
/// git, compilers and web servers.
const BEGINNINGS: [(Meaning, &str); 3] = [
    (
        Meaning::Evaluation,
        "eval valid predict sanity test benchmark",
    ),
    (
        Meaning::Preparation,
        "map filter load download fetch writing wrote reading tokeniz encod shard split resolv extract \
     unpack upload creat convert cast build built pack cach comput collect preproc process flatten \
     format quantiz merg materializ copy copied index scan safetensors json parquet arrow gguf adding \
     prepar compil install receiv object delta transfer request http get post crawl pars import \
     migrat queue linking checking calibrat verif shuffl",
    ),
    (
        Meaning::Inference,
        "infer simulat generat transcrib translat embed caption serv render decod denois rollout",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_meaning_of_the_field() {
        let table = [
            ("step", Meaning::Step(StepName::Step)),
            ("iteration", Meaning::Step(StepName::Iteration)),
            ("batches", Meaning::Step(StepName::Batch)),
            ("total_loss", Meaning::Metric),
            ("validation", Meaning::Evaluation),
            ("val", Meaning::Evaluation),
            ("value", Meaning::Unknown),
            ("tokenizing", Meaning::Preparation),
            ("tokens", Meaning::Token),
            ("warmup", Meaning::Setting),
            ("eta", Meaning::Quantity),
        ];
        for (word, expected) in table {
            assert_eq!(meaning(word.as_bytes()), expected, "{word}");
        }
    }
}
