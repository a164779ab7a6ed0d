use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;

use super::nvml::{Listed, fold, none_visible};
use super::*;

const MIB: u64 = 1 << 20;

fn fdinfo(driver: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gpu");
    fs::read(path.join(format!("{driver}.fdinfo"))).unwrap()
}

fn check(driver: &str, id: u64, memory: u64) {
    let client = drm::parse(&fdinfo(driver)).unwrap();
    assert_eq!(client.driver, driver.split('-').next().unwrap().as_bytes());
    assert_eq!(client.id, Some(id), "{driver}");
    assert_eq!(client.memory, Some(Bytes(memory)), "{driver}");
}

#[test]
fn each_drivers_words_for_memory_on_the_card_are_known() {
    check("amdgpu", 94_211, 3_145_728 << 10);
    check("amdgpu-old", 17, 524_288 << 10);
    check("i915-discrete", 7, 640 * MIB + (4096 << 10));
    check("i915-integrated", 12, 48 * MIB + 4096);
    check("xe", 29, 9100 << 10);
}

#[test]
fn a_driver_without_numbers_is_unknown_and_not_zero() {
    assert_eq!(drm::parse(&fdinfo("nouveau")), None);
    let named = drm::parse(b"drm-driver:\tvirtio_gpu\ndrm-client-id:\t4\n").unwrap();
    assert_eq!(named.memory, None);
    let cycles = drm::parse(b"drm-driver:\txe\ndrm-total-cycles-rcs:\t765\n").unwrap();
    assert_eq!(cycles.memory, None);
    let odd = drm::parse(b"drm-driver: x\ndrm-resident-vram: 3 bananas\n").unwrap();
    assert_eq!(odd.memory, None);
}

/// A /proc, /dev and /sys with a render node, and processes that hold descriptors of it.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        fs::create_dir_all(tree.path("dev/dri")).unwrap();
        fs::write(tree.path("dev/dri/renderD128"), "").unwrap();
        let device = tree.path("sys/class/drm/card1/device");
        fs::create_dir_all(device.join("drm/renderD128")).unwrap();
        fs::create_dir_all(tree.path("sys/class/drm/card1-DP-1/device/drm/renderD128")).unwrap();
        let uevent = "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c5:00.0\n";
        fs::write(device.join("uevent"), uevent).unwrap();
        fs::write(device.join("mem_info_vram_total"), "17163091968\n").unwrap();
        fs::write(device.join("mem_info_vram_used"), "3489660928\n").unwrap();
        tree
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn descriptor(&self, pid: i32, fd: u32, target: &str, info: &[u8]) {
        for kind in ["fd", "fdinfo"] {
            fs::create_dir_all(self.path(&format!("proc/{pid}/{kind}"))).unwrap();
        }
        symlink(target, self.path(&format!("proc/{pid}/fd/{fd}"))).unwrap();
        fs::write(self.path(&format!("proc/{pid}/fdinfo/{fd}")), info).unwrap();
    }

    fn reader(&self) -> GpuReader {
        let proc = ProcRoot::at(self.path("proc"));
        GpuReader::on(&proc, self.path("dev"), self.path("sys"))
    }
}

fn has_nvidia() -> bool {
    let has = nvml::load().is_ok();
    if has {
        leveloff_testkit::cannot_run_here("this machine has an NVIDIA driver, which comes first");
    }
    has
}

#[test]
fn a_client_counts_once_however_many_descriptors_share_it() {
    if has_nvidia() {
        return;
    }
    let tree = Tree::new();
    let (amd, xe) = (fdinfo("amdgpu"), fdinfo("xe"));
    tree.descriptor(10, 3, "/dev/dri/renderD128", &amd);
    tree.descriptor(10, 4, "/dev/dri/renderD128", &amd);
    tree.descriptor(10, 5, "/dev/dri/renderD129", &xe);
    tree.descriptor(10, 6, "/dev/null", &amd);
    // A forked worker inherits the descriptor, and with it the client.
    tree.descriptor(11, 3, "/dev/dri/renderD128", &amd);
    tree.descriptor(12, 3, "socket:[123]", b"pos: 0\n");
    let mut reader = tree.reader();
    assert_eq!(reader.source(), Some("DRM"));
    let reading = reader.read(&[Pid(10), Pid(11), Pid(12), Pid(4711)]);
    let held = Bytes((3_145_728 << 10) + (9100 << 10));
    assert_eq!(reading.per_process, [(Pid(10), held)]);
    assert_eq!(
        reading.devices,
        [GpuDevice {
            name: "amdgpu 0000:c5:00.0".into(),
            used: Some(Bytes(3_489_660_928)),
            total: Some(Bytes(17_163_091_968)),
        }]
    );
    assert_eq!(reader.take_gaps(), []);
}

#[test]
fn a_driver_without_numbers_is_a_gap_reported_once() {
    if has_nvidia() {
        return;
    }
    let tree = Tree::new();
    tree.descriptor(10, 3, "/dev/dri/renderD128", &fdinfo("nouveau"));
    let mut reader = tree.reader();
    assert_eq!(reader.read(&[Pid(10)]).per_process, []);
    assert_eq!(reader.take_gaps().len(), 1);
    reader.read(&[Pid(10)]);
    assert_eq!(reader.take_gaps(), []);
}

#[test]
fn no_gpu_is_one_gap_and_a_later_one_is_found() {
    if has_nvidia() {
        return;
    }
    let tree = Tree::new();
    fs::remove_file(tree.path("dev/dri/renderD128")).unwrap();
    tree.descriptor(10, 3, "/dev/dri/renderD128", &fdinfo("xe"));
    let mut reader = tree.reader();
    assert_eq!(
        (reader.source(), reader.read(&[Pid(10)])),
        (None, GpuReading::default())
    );
    let gaps = reader.take_gaps();
    assert!(
        gaps.len() == 1 && gaps[0].text.contains("libnvidia-ml"),
        "{gaps:?}"
    );
    println!("{}", gaps[0].text);

    fs::write(tree.path("dev/dri/renderD128"), "").unwrap();
    let found = (0..READS_BETWEEN_CHECKS).find(|_| !reader.read(&[Pid(10)]).per_process.is_empty());
    assert!(found.is_some_and(|reads| reads > READS_BETWEEN_CHECKS / 2));
    assert_eq!(reader.take_gaps(), []);
}

fn listed(unit: usize, pid: i32, used: Option<u64>) -> Listed {
    Listed {
        unit,
        instance: None,
        pid: Pid(pid),
        used,
    }
}

#[test]
fn nvml_lists_fold_to_the_larger_of_a_card_and_the_sum_of_cards() {
    let lists = [
        listed(0, 10, Some(500)),
        listed(0, 10, Some(500)),
        listed(1, 10, Some(70)),
        listed(0, 99, Some(9)),
        listed(0, 11, None),
    ];
    let folded = fold(&lists, &[Pid(10), Pid(11), Pid(12)]);
    assert_eq!(folded.per_process, [(Pid(10), Bytes(570))]);
    assert!(folded.unknown);
    assert!(!fold(&lists, &[Pid(10)]).unknown);
}

#[test]
fn nvml_slices_of_one_card_add_up() {
    let slice = |instance, used| Listed {
        instance: Some(instance),
        ..listed(0, 10, Some(used))
    };
    let folded = fold(&[slice(1, 30), slice(2, 40)], &[Pid(10)]);
    assert_eq!(folded.per_process, [(Pid(10), Bytes(70))]);
}

#[test]
fn processes_of_another_namespace_are_recognised() {
    let proc = ProcRoot::live();
    let us = listed(0, std::process::id() as i32, Some(1));
    let foreign = listed(0, i32::MAX, Some(1));
    assert!(!none_visible(&[], &proc));
    assert!(!none_visible(&[foreign, us], &proc));
    assert!(none_visible(&[foreign], &proc));
}

#[test]
fn this_machines_gpus_are_read_or_named_as_missing() {
    let mut reader = GpuReader::new(&ProcRoot::live());
    let reading = reader.read(&[Pid(std::process::id() as i32)]);
    let gaps = reader.take_gaps();
    println!("{:?}: {reading:?}, {gaps:?}", reader.source());
    assert_eq!(
        reader.source().is_none(),
        reading.devices.is_empty() && !gaps.is_empty()
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = drm::parse(&text);
    }

    #[test]
    fn no_keys_make_it_panic(
        text in "(drm-(driver|client-id|pdev|resident-|memory-|total-)[a-z0-9:]{0,6}[: ]{0,2}[0-9]{0,22} ?[KMG]?i?B?\n){0,8}",
    ) {
        let _ = drm::parse(text.as_bytes());
    }

    #[test]
    fn resident_memory_is_never_added_to_its_alias(kib in 0u64..1 << 40) {
        let text = format!("drm-driver: amdgpu\ndrm-memory-vram: {kib} KiB\ndrm-resident-vram: {kib} KiB\ndrm-total-vram: 7 MiB\n");
        let client = drm::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(client.memory, Some(Bytes(kib << 10)));
    }
}
