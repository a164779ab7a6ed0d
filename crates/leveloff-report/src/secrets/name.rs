//! Which names speak of a secret.

/// Words that do so wherever they stand in a name.
const SECRETS: &str = "apikey auth authentication authorization bearer cookie cred credential credentials creds \
     jwt oauth pass passphrase passwd password passwords pwd secret secrets sig webhook";

/// Ends of names that are written without any separator.
const ENDINGS: &str = "accesskey accesstoken apikey apitoken authtoken hftoken passphrase passwd password \
     privatekey secret";

/// A token of these is one of a text, not one that opens doors: `--pad-token`, `--max-token`.
const TOKENS_OF_TEXT: &str = "audio begin bos cls decoder end eos first image img last mask max min n new num pad per \
     sep special start stop unk video vision";

/// A key of these opens doors; others find a column or a field.
const KEYS: &str = "access account anthropic api auth aws azure clearml comet encryption gcp github gitlab \
     google hf huggingface license master mlflow neptune openai private project secret \
     service shared signing ssh storage subscription user wandb";

/// Whether an argument is an option whose value comes next.
pub(super) fn is_secret_flag(arg: &str) -> bool {
    arg.starts_with('-') && !arg.contains(['=', ' ']) && is_secret_name(arg)
}

/// Whether whatever has this name is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else {
        return false;
    };
    let others = &words[..words.len() - 1];
    let has = |list: &str| others.iter().any(|word| is_in(list, word));
    let compact = words.concat();
    words.iter().any(|word| is_in(SECRETS, word))
        || ENDINGS.split(' ').any(|ending| compact.ends_with(ending))
        || (last == "token" && !has(TOKENS_OF_TEXT))
        || (matches!(last.as_str(), "key" | "keys") && (others.is_empty() || has(KEYS)))
        || (last == "signature" && has("amz goog"))
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// The words of a name, in small letters: `HF_TOKEN`, `--api-key`, `apiKey` and `HFToken` have two.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let next_is_small = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || (before.is_uppercase() && next_is_small)
            });
        if (begins || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_distinguished_from_names_of_texts() {
        for name in [
            "--token",
            "HF_TOKEN",
            "--hub-token",
            "hub_token",
            "--api-key",
            "apiKey",
            "WANDB_API_KEY",
            "--password",
            "db.passwd",
            "client_secret",
            "credential",
            "--auth",
            "--use_auth_token",
            "HFToken",
            "hftoken",
            "AWS_SECRET_ACCESS_KEY",
            "Authorization",
            "X-Amz-Signature",
            "--key",
            "accessToken",
            "DBPASSWORD",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "--tokenizer",
            "--tokenizer-name",
            "--max-tokens",
            "--num-tokens",
            "--author",
            "--pad-token",
            "--max-new-tokens",
            "tokens",
            "eos_token",
            "--text-key",
            "--key-dim",
            "authors",
            "--passes",
            "--monkey",
            "--lr",
            "",
            "--secretary",
            "--token-length",
            "signature",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
