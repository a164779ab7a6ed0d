//! When things go wrong around leveloff: full disks, closed doors, and kills.

mod closed_doors;
mod full_disk;
mod kills;
mod lost_terminal;
