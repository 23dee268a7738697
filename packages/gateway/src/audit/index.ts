// A separate entry point: commands that read the log load faster without the gateway.
export { type ChainFile, chainFiles, chainPaths } from './chain-files.ts'
export { type AuditFilter, AuditFollower, lastRecords, recordFilter } from './query.ts'
export type { AuditEntry, AuditRecord, AuditType, ChainPosition } from './record.ts'
export { type ChainProblem, type ChainReport, type VerifyOptions, verifyChain } from './verify.ts'
