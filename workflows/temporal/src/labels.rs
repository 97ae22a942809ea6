//! What a build carries for those who look for it: search attributes and the memo.

use std::path::PathBuf;

use corpora_contracts::ids::{Digest, Name};
use temporalio_client::Client;
use temporalio_client::tonic::{Code, IntoRequest as _, Status};
use temporalio_common::MemoValues;
use temporalio_common::protos::temporal::api::enums::v1::IndexedValueType;
use temporalio_common::protos::temporal::api::operatorservice::v1::ListSearchAttributesRequest;
use temporalio_common::search_attributes::{SearchAttributeKey, SearchAttributes};

use crate::plan;

/// Search attribute: the dataset.
const DATASET: SearchAttributeKey<String> = SearchAttributeKey::keyword("CorpusDataset");
/// Search attribute: its version.
const VERSION: SearchAttributeKey<String> = SearchAttributeKey::keyword("CorpusVersion");
/// Search attribute: the stage that the build is at.
pub(crate) const STAGE: SearchAttributeKey<String> = SearchAttributeKey::keyword("CorpusStage");

/// Under this name a build's memo holds its dataset.
pub(crate) const DATASET_MEMO: &str = "dataset";
/// Under this name it holds the version.
pub(crate) const VERSION_MEMO: &str = "version";
/// Under this name it holds the config's digest.
pub(crate) const DIGEST_MEMO: &str = "config_digest";
/// Under this name it holds the artifacts directory.
pub(crate) const ARTIFACTS_MEMO: &str = "artifacts";
/// Under this name it holds the stage that it is at: also for those whose service knows no search attributes of ours.
pub(crate) const STAGE_MEMO: &str = "stage";

/// What a build is of.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    /// The dataset.
    pub(crate) dataset: Name,
    /// Its version.
    pub(crate) version: Name,
    /// The config's digest.
    pub(crate) digest: Digest,
    /// The artifacts directory, absolute.
    pub(crate) artifacts: PathBuf,
}

impl Labels {
    /// What the service keeps beside the build.
    pub(crate) fn memo(&self) -> MemoValues {
        let mut memo = MemoValues::new();
        memo.insert(DATASET_MEMO, self.dataset.to_string())
            .insert(VERSION_MEMO, self.version.to_string())
            .insert(DIGEST_MEMO, self.digest.to_string())
            .insert(ARTIFACTS_MEMO, self.artifacts.clone())
            .insert(STAGE_MEMO, plan::ACTIVITY.to_owned());
        memo
    }

    /// By what the build can be found.
    pub(crate) fn search_attributes(&self) -> SearchAttributes {
        SearchAttributes::new([
            DATASET.value_set(self.dataset.to_string()),
            VERSION.value_set(self.version.to_string()),
            STAGE.value_set(plan::ACTIVITY.to_owned()),
        ])
    }
}

/// Whether the service knows our search attributes. One that does not tell is believed to know them: the start of the build
/// shows.
pub(crate) async fn are_known(client: &Client) -> bool {
    let request = ListSearchAttributesRequest { namespace: client.options().namespace.clone() };
    match client.connection().operator_service().list_search_attributes(request.into_request()).await {
        Ok(answer) => {
            let known = answer.into_inner().custom_attributes;
            let keyword = i32::from(IndexedValueType::Keyword);
            [DATASET, VERSION, STAGE].iter().all(|key| known.get(key.name()) == Some(&keyword))
        }
        Err(status) => {
            tracing::debug!("the Temporal service lists no search attributes: {status}");
            true
        }
    }
}

/// Whether the service refuses a build because of its search attributes.
pub(crate) fn are_refused(status: &Status) -> bool {
    status.code() == Code::InvalidArgument && status.message().to_lowercase().contains("search attribute")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_labelled_by_what_it_is_of() {
        let labels = Labels {
            dataset: "d".parse().unwrap(),
            version: "v1".parse().unwrap(),
            digest: Digest::of(b""),
            artifacts: "/a".into(),
        };
        let attributes = labels.search_attributes();
        let found = [DATASET, VERSION, STAGE].map(|key| attributes.get(&key).unwrap());
        assert_eq!(found, ["d", "v1", "plan"]);
        assert_eq!([DATASET, VERSION, STAGE].map(|key| key.name()), ["CorpusDataset", "CorpusVersion", "CorpusStage"]);
    }

    #[test]
    fn a_refusal_of_search_attributes_is_told_from_others() {
        let status = |code, message: &str| Status::new(code, message);
        let unknown = "Namespace default has no mapping defined for search attribute CorpusDataset";
        assert!(are_refused(&status(Code::InvalidArgument, unknown)));
        assert!(are_refused(&status(Code::InvalidArgument, "invalid SearchAttributes: Search Attribute X")));
        assert!(!are_refused(&status(Code::InvalidArgument, "WorkflowId is not set on request.")));
        assert!(!are_refused(&status(Code::Unavailable, unknown)));
    }
}
