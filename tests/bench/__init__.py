"""Speed and memory, as ratios in one run: machines are shared and noisy, so no test asserts them."""
