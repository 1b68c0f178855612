"""Files of blocks: the blocks are records of one size, and their numbers are the keys."""
