"""Where the performance tests of tesela run: any host, and how a cluster is described.

All keys are in ReFrame's manual, "Configuration Reference".
"""

site_configuration = {
    "systems": [
        {
            "name": "here",
            "descr": "Any host, without a batch system",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "sockets",
                    "scheduler": "local",
                    "launcher": "mpirun",
                    "environs": ["installed"],
                    # More ranks than cores, for hosts of few, and ranks that bind themselves; Open MPI 4 and 5.
                    "env_vars": [
                        ["OMPI_MCA_rmaps_base_oversubscribe", "1"],
                        ["OMPI_MCA_hwloc_base_binding_policy", "none"],
                        ["PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"],
                        ["PRTE_MCA_hwloc_default_binding_policy", "none"],
                    ],
                },
            ],
        },
        # A cluster of nodes with four cards; its figures go into references.py as "cluster:cards".
        {
            "name": "cluster",
            "descr": "Slurm, nodes of two sockets and four cards",
            "hostnames": ["^login\\d*$"],
            "partitions": [
                {
                    "name": "cards",
                    "scheduler": "slurm",
                    "launcher": "srun",
                    "access": ["--partition=gpu", "--gres=gpu:4"],
                    "environs": ["installed"],
                    "features": ["cards"],
                },
            ],
        },
    ],
    "environments": [{"name": "installed", "target_systems": ["*"]}],
}
