// A separate entry point: commands that explain a policy load faster without the gateway.
export type { Subject, SubjectCall } from './conditions.ts'
export { type NamedTool, namedTool } from './named-tool.ts'
export type { Evaluation, Outcome } from './outcome.ts'
export { type ExplainedCondition, type ExplainedRule, type Explanation, Policy } from './policy.ts'
export { type RecordedCall, type SuggestedPolicy, suggestPolicy, wasSent } from './suggest.ts'
export type { Effect, Verdict } from './verdict.ts'
