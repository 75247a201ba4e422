//! `report`: the object that `workspan report --json --statistics` prints (for a part, with its
//! `--only`), limited to the sites that have numbers.

use workspan_export::report_json_of;

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::Run;
use crate::run::sites::REPORT_LIMITS;

pub(crate) fn answer(run: &Run) -> Result<Reply, ApiError> {
    let (picture, rest) = (run.picture()?, run.rest()?);
    let json = rest.json.get_or_init(|| {
        let statistics = rest.statistics(picture).ok();
        report_json_of(
            rest.dag(picture),
            &rest.report,
            &picture.measured,
            statistics,
            &REPORT_LIMITS,
        )
    });
    Ok(Reply::Json(json.as_bytes().to_vec()))
}
