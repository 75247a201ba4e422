//! The runs and pictures of each page of docs/case-studies.

use super::{Picture, Run, Study, SuiteBuild};

const fn run(name: &'static str, built: SuiteBuild, words: &'static str) -> Run {
    Run { name, built, words }
}

/// The whole timeline, in percent of the measured part.
const ALL: [f64; 2] = [0.0, 100.0];

const fn simulated(
    file: &'static str,
    run: &'static str,
    options: &'static str,
    shown: [f64; 2],
) -> Picture {
    Picture::Simulated {
        file,
        run,
        options,
        shown,
    }
}

const fn recorded(file: &'static str, run: &'static str, shown: [f64; 2]) -> Picture {
    Picture::Recorded { file, run, shown }
}

/// The studies, in the order of docs/case-studies/README.md.
pub static STUDIES: [Study; 14] = [
    Study {
        name: "sparselu",
        runs: &[
            run(
                "sparselu-flat",
                SuiteBuild::WorkspanHeader,
                "sparselu 40 24",
            ),
            run(
                "sparselu-halved",
                SuiteBuild::WorkspanHeader,
                "sparselu 40 24 --loop halved",
            ),
        ],
        pictures: &[
            simulated(
                "sparselu-flat",
                "sparselu-flat",
                "--workers 8 --policy work-first",
                [25.0, 25.8],
            ),
            simulated(
                "sparselu-halved",
                "sparselu-halved",
                "--workers 8 --policy work-first",
                [25.0, 25.8],
            ),
        ],
    },
    Study {
        name: "sort",
        runs: &[run(
            "sort-sorted",
            SuiteBuild::WorkspanHeader,
            "sort 2000000 512 512 --input sorted",
        )],
        pictures: &[simulated(
            "sort-sorted",
            "sort-sorted",
            "--workers 8 --policy help-first",
            ALL,
        )],
    },
    Study {
        name: "fft",
        runs: &[run(
            "floorplan",
            SuiteBuild::WorkspanHeader,
            "floorplan 11 5",
        )],
        pictures: &[
            simulated(
                "fft-restrained",
                "floorplan",
                "--workers 8 --policy restrained-stealing",
                [60.0, 100.0],
            ),
            simulated(
                "fft-free",
                "floorplan",
                "--workers 8 --policy help-first",
                [60.0, 100.0],
            ),
        ],
    },
    Study {
        name: "alignment",
        runs: &[run(
            "alignment",
            SuiteBuild::WorkspanHeader,
            "alignment 100 300",
        )],
        pictures: &[
            simulated(
                "alignment-bounded",
                "alignment",
                "--workers 36 --policy bounded-queue:64",
                [20.0, 60.0],
            ),
            simulated(
                "alignment-unbounded",
                "alignment",
                "--workers 36 --policy help-first",
                [20.0, 60.0],
            ),
        ],
    },
    Study {
        name: "strassen",
        runs: &[
            run("strassen-libomp", SuiteBuild::Libomp, "strassen"),
            run("strassen", SuiteBuild::WorkspanHeader, "strassen 512"),
        ],
        pictures: &[
            recorded("strassen", "strassen-libomp", ALL),
            simulated(
                "strassen-8",
                "strassen",
                "--workers 8 --policy help-first",
                ALL,
            ),
        ],
    },
    Study {
        name: "cutoffs",
        runs: &[
            run("fib-40", SuiteBuild::WorkspanHeader, "fib 27 40"),
            run("fib-10", SuiteBuild::WorkspanHeader, "fib 27 10"),
            run("nqueens-10", SuiteBuild::WorkspanHeader, "nqueens 10 10"),
            run("nqueens-4", SuiteBuild::WorkspanHeader, "nqueens 10 4"),
        ],
        pictures: &[Picture::Breakdown {
            file: "cutoffs",
            runs: &["fib-40", "fib-10", "nqueens-10", "nqueens-4"],
        }],
    },
    Study {
        name: "health",
        runs: &[
            run("health-3", SuiteBuild::WorkspanHeader, "health 4 12 10 3"),
            run("health-2", SuiteBuild::WorkspanHeader, "health 4 12 10 2"),
        ],
        pictures: &[Picture::Breakdown {
            file: "health",
            runs: &["health-3", "health-2"],
        }],
    },
    Study {
        name: "blackscholes",
        runs: &[
            run(
                "grain-40",
                SuiteBuild::WorkspanHeader,
                "blackscholes 200000 30 40",
            ),
            run(
                "grain-10000",
                SuiteBuild::WorkspanHeader,
                "blackscholes 200000 30 10000",
            ),
            run(
                "grain-25000",
                SuiteBuild::WorkspanHeader,
                "blackscholes 200000 30 25000",
            ),
        ],
        pictures: &[
            Picture::Breakdown {
                file: "blackscholes",
                runs: &["grain-40", "grain-10000", "grain-25000"],
            },
            simulated(
                "blackscholes-25000",
                "grain-25000",
                "--workers 8 --policy help-first",
                [40.0, 60.0],
            ),
        ],
    },
    Study {
        name: "bodytrack",
        runs: &[
            run(
                "bodytrack-loops",
                SuiteBuild::WorkspanHeader,
                "bodytrack 50 2000 240",
            ),
            run(
                "bodytrack-overlap",
                SuiteBuild::WorkspanHeader,
                "bodytrack 50 2000 240 --overlap yes",
            ),
        ],
        pictures: &[
            simulated(
                "bodytrack-loops",
                "bodytrack-loops",
                "--workers 8 --policy help-first",
                [40.0, 60.0],
            ),
            simulated(
                "bodytrack-overlap",
                "bodytrack-overlap",
                "--workers 8 --policy help-first",
                [40.0, 60.0],
            ),
        ],
    },
    Study {
        name: "dedup",
        runs: &[run("dedup", SuiteBuild::WorkspanHeader, "dedup 8192")],
        pictures: &[simulated(
            "dedup",
            "dedup",
            "--workers 8 --policy help-first",
            ALL,
        )],
    },
    Study {
        name: "facesim",
        runs: &[
            run("facesim-8", SuiteBuild::WorkspanHeader, "facesim"),
            run(
                "facesim-36",
                SuiteBuild::WorkspanHeader,
                "facesim 2 40 36 30",
            ),
            run(
                "streamcluster",
                SuiteBuild::WorkspanHeader,
                "streamcluster 4000 2000 20 50 36",
            ),
        ],
        pictures: &[
            simulated(
                "facesim",
                "facesim-8",
                "--workers 2 --policy help-first",
                [50.0, 50.5],
            ),
            simulated(
                "facesim-36",
                "facesim-36",
                "--workers 36 --policy help-first",
                [50.0, 55.0],
            ),
            simulated(
                "streamcluster-36",
                "streamcluster",
                "--workers 36 --policy help-first",
                [46.0, 49.0],
            ),
        ],
    },
    Study {
        name: "freqmine",
        runs: &[
            run(
                "freqmine-1",
                SuiteBuild::WorkspanHeader,
                "freqmine 20000 1000 40 1",
            ),
            run(
                "freqmine-28",
                SuiteBuild::WorkspanHeader,
                "freqmine 20000 1000 40 28",
            ),
        ],
        pictures: &[
            simulated(
                "freqmine-28",
                "freqmine-28",
                "--workers 36 --policy help-first",
                ALL,
            ),
            simulated(
                "freqmine-1",
                "freqmine-1",
                "--workers 36 --policy help-first",
                ALL,
            ),
        ],
    },
    Study {
        name: "canneal",
        runs: &[run(
            "canneal",
            SuiteBuild::WorkspanHeader,
            "canneal 100000 20",
        )],
        pictures: &[simulated(
            "canneal",
            "canneal",
            "--workers 8 --policy help-first",
            [0.0, 20.0],
        )],
    },
    Study {
        name: "swaptions",
        runs: &[
            run(
                "swaptions-128",
                SuiteBuild::WorkspanHeader,
                "swaptions 128 2000 1",
            ),
            run(
                "swaptions-512",
                SuiteBuild::WorkspanHeader,
                "swaptions 512 500 1",
            ),
        ],
        pictures: &[
            simulated(
                "swaptions-128",
                "swaptions-128",
                "--workers 36 --policy help-first",
                [50.0, 100.0],
            ),
            simulated(
                "swaptions-512",
                "swaptions-512",
                "--workers 36 --policy help-first",
                [75.0, 100.0],
            ),
        ],
    },
];
