//! `report`: the object that `workspan report --json --statistics` prints (for a part, with its
//! `--only`), limited to the sites that have numbers.

use workspan_export::report_json_of;

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::Run;
use crate::run::sites::REPORT_LIMITS;

pub(crate) fn answer(run: &Run) -> Result<Reply, ApiError> {
    let (model, analyses) = (run.model()?, run.analyses()?);
    let json = analyses.json.get_or_init(|| {
        let statistics = analyses.statistics(model).ok();
        report_json_of(
            analyses.dag(model),
            &analyses.report,
            &model.options,
            statistics,
            &REPORT_LIMITS,
        )
    });
    Ok(Reply::Json(json.as_bytes().to_vec()))
}
