// A separate entry point: "unfold trust" and "unfold add" do not load the gateway.
export type { Finding } from '../poisoning/finding.ts'
export { definitionFindings } from './definition-findings.ts'
export { formatRecords, mergeRecords, parseRecords, type TrustRecords } from './records/exchange.ts'
export type { Accepted, AcceptedBy, Blocked, Item, ItemKind, ServerRecord } from './records/record.ts'
export { sqliteTrustStore, TrustStoreError } from './records/sqlite-store.ts'
export type { TrustStore } from './records/store.ts'
export { trustFile } from './records/trust-file.ts'
export type { Run } from './run.ts'
