"""What SQL engines share: sessions, and records and objects by SQL."""
