// A separate entry point: "unfold trust" and "unfold add" do not load the gateway.
export type { Finding } from '../poisoning/finding.ts'
export { definitionFindings } from './definition-findings.ts'
export { formatRecords, mergeRecords, parseRecords, type TrustRecords } from './exchange.ts'
export type { Accepted, AcceptedBy, Blocked, Item, ItemKind, ServerRecord } from './record.ts'
export { sqliteTrustStore, TrustStoreError } from './sqlite-store.ts'
export type { TrustStore } from './store.ts'
export { trustFile } from './trust-file.ts'
