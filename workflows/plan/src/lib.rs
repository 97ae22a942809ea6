//! CorpusBuild as data: levels of steps that every driver walks; pure.
