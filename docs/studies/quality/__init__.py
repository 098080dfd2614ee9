"""The study of quality: which loss ranks best on which set, by a protocol that was written down before it was run."""
