use super::*;

fn job_in(directory: &str, line: &str) -> Job {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    Job::of(&words, Some(Path::new(directory))).unwrap()
}

fn key(line: &str) -> String {
    job_in("/home/ada/project", line).key
}

#[test]
fn seeds_places_and_secrets_do_not_change_a_job() {
    let base = key("python train.py --seed 1 --output-dir runs/a --lr 0.1 --hub-token abc");
    for same in [
        "python train.py --seed 2 --output-dir runs/b --lr 0.1 --hub-token xyz",
        "/usr/bin/python3.12 train.py --seed 3 --output-dir /mnt/x --lr 0.1 --hub-token q",
        "python3 /srv/project/train.py --seed 77 --output-dir ./y --lr 0.1 --hub-token q",
    ] {
        assert_eq!(key(same), base, "{same}");
    }
}

#[test]
fn settings_change_a_job() {
    let base = key("python train.py --max-steps 663 --model org/small --config a.yaml");
    for other in [
        "python train.py --max-steps 600 --model org/small --config a.yaml",
        "python train.py --max-steps 663 --model org/large --config a.yaml",
        "python train.py --max-steps 663 --model org/small --config b.yaml",
        "python eval.py --max-steps 663 --model org/small --config a.yaml",
        "python train.py --max-steps 663 --model org/small --config a.yaml --compile",
    ] {
        assert_ne!(key(other), base, "{other}");
    }
    let moved = "python train.py --max-steps 663 --model org/small --config /mnt/conf/a.yaml";
    assert_eq!(key(moved), base);
}

#[test]
fn numbers_that_look_like_seeds_are_left_out_and_settings_stay() {
    assert_eq!(key("trainer --x 918273"), key("trainer --x 645342"));
    assert_eq!(key("trainer --run-id 7"), key("trainer --run-id 8"));
    assert_eq!(
        key("trainer run=20260501-1230"),
        key("trainer run=20260502-0815")
    );
    assert_eq!(
        key("trainer --tag 9f3ac2d1e"),
        key("trainer --tag 1b2c3d4e5")
    );
    for (one, other) in [("1000000", "2000000"), ("65536", "131072"), ("512", "1024")] {
        let with = |steps| key(&format!("trainer --max-tokens {steps}"));
        assert_ne!(with(one), with(other));
    }
}

#[test]
fn the_same_name_in_two_projects_is_two_jobs_and_on_two_hosts_one() {
    let at = |directory| job_in(directory, "python train.py").key;
    assert_ne!(at("/home/ada/vision"), at("/home/ada/speech"));
    assert_eq!(at("/home/ada/vision"), at("/srv/work/vision"));
    let above = job_in("/home/ada/vision/scripts", "python ../train.py").key;
    assert_eq!(above, at("/home/ada/vision"));
}

#[test]
fn a_job_is_named_without_its_arguments() {
    let name = |line: &str| job_in("/x/y", line).name;
    assert_eq!(
        name("python3.12 -u src/train.py --key hunter2"),
        "python train.py"
    );
    assert_eq!(name("python -m pkg.train --x 1"), "python pkg.train");
    assert_eq!(
        name("torchrun --nproc-per-node 2 train.py a"),
        "torchrun train.py"
    );
    assert_eq!(name("./train.sh secret"), "sh train.sh");
    assert_eq!(name("bash -c ./train.sh"), "sh");
    assert_eq!(name("/opt/bin/trainer secret.py"), "trainer");
    assert_eq!(Job::of(&[], None), None);
}

#[test]
fn a_key_is_a_hash_that_does_not_change() {
    // It must not: histories outlive versions.
    assert_eq!(key("trainer --x 1").len(), 32);
    assert!(key("trainer --x 1").bytes().all(|b| b.is_ascii_hexdigit()));
    let joined = key("trainer ab c");
    assert_ne!(joined, key("trainer a bc"));
}
