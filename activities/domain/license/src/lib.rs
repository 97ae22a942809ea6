//! SPDX expressions judged by a policy of licence to permitted uses.
