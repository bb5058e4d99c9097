export { capabilities } from './capabilities.ts';
export { type Capability, type Check, Failure, NotChecked } from './check.ts';
export { type CutOffPool, cutOffPool } from './cut-off-pool.ts';
export { formatMatrix } from './matrix.ts';
export { type PlainHttp, plainHttp } from './plain-http.ts';
export { type CheckResult, formatReport, type Report } from './report.ts';
export { type RunOptions, runCheck, runConformance } from './run.ts';
export type { ClockChange, Facts, Subject } from './subject.ts';
export { watchedHttp } from './watched-calls.ts';
