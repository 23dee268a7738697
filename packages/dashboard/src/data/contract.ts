export interface TextPiece {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

export interface Difference {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly words?: readonly TextPiece[]
}

/** What the admin API answers, as far as the page uses it. */
export type ServerState =
  | 'starting'
  | 'installing'
  | 'ready'
  | 'degraded'
  | 'reconnecting'
  | 'needs_login'
  | 'failed'
  | 'disabled'
  | 'idle'
  | 'stopped'

interface Finding {
  readonly tool?: string
  readonly path: string
  readonly rule: string
  readonly description: string
  readonly excerpt: string
  readonly advice: string
}

export interface Server {
  readonly name: string
  readonly state: ServerState
  readonly forMs: number
  readonly attempt?: number
  readonly lastOutput?: string
  readonly lastError?: string
  readonly nextRetryInMs?: number
  readonly tools: number
  readonly offered: number
  readonly address?: string
  readonly url?: string
  readonly pid?: number
  readonly server?: string
  readonly protocolVersion?: string
  readonly era?: string
  readonly announcesChanges?: boolean
  readonly calls: { readonly running: number; readonly waiting: number }
  readonly notes: readonly { readonly tool: string; readonly kind: string; readonly message: string }[]
  readonly findings: readonly Finding[]
  readonly findingCount: number
  readonly held: number
  readonly blocked: number
}

interface Problem {
  readonly message: string
}

interface Savings {
  readonly allTokens: number
  readonly listedTokens: number
  readonly exposure: string
  readonly reason: string
  readonly tools: number
  readonly listed: number
}

export interface Client {
  readonly era: string
  readonly transport?: string
  readonly name?: string
  readonly version?: string
  readonly host?: string
  readonly token?: string
  readonly profile?: string
  readonly server?: string
  readonly sinceMs: number
  readonly idleMs: number
  readonly requests?: number
}

export interface Status {
  readonly version: string
  readonly uptimeMs: number
  readonly config: string
  readonly url: string
  readonly problems: readonly Problem[]
  readonly degraded: readonly { readonly part: string; readonly problem: string }[]
  readonly audit?: object
  readonly upstreams: readonly Server[]
  readonly notStarted: readonly { readonly name: string; readonly problems: readonly Problem[] }[]
  readonly edits: readonly string[]
  readonly pendingCalls: number
  readonly clients: readonly Client[]
  readonly savings: Savings
}

export interface Tool {
  readonly name: string
  readonly upstream: string
  readonly tool: string
  readonly description: string
  readonly tokens: number
  readonly annotations?: object
  readonly findings?: readonly Finding[]
}

export interface ReviewItem {
  readonly state: 'held' | 'changed' | 'blocked'
  readonly server: string
  readonly kind: string
  readonly name: string
  readonly digest: string
  readonly isNew: boolean
  readonly differences: readonly Difference[]
  readonly hazards: readonly Finding[]
}

export interface ConfigEdit {
  readonly digest: string
  readonly path: string
  readonly isNew: boolean
  readonly isRejected: boolean
  readonly changes: readonly Difference[]
}

export interface Approval {
  readonly id: string
  readonly state: 'pending' | 'approved'
  readonly decisions?: readonly string[]
  readonly askedAt: string
  readonly expiresAt?: string
  readonly caller: string
  readonly server: string
  readonly tool: string
  readonly arguments: readonly { readonly name: string; readonly value: string }[]
}

interface Entry {
  readonly id: number
  readonly at: string
}

export interface Call extends Entry {
  readonly client: string
  readonly upstream: string
  readonly tool: string
  readonly ms: number
  readonly outcome: string
  readonly rule?: string
  readonly sentCharacters: number
  readonly receivedCharacters: number
  readonly steps?: readonly { readonly step: string; readonly ms: number }[]
  readonly asked?: string
  readonly continues?: string
}

export interface Change extends Entry {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly names: { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] }
}

export interface LogLine extends Entry {
  readonly level?: string
  readonly message?: string
  readonly line?: string
  readonly upstream?: string
}

export interface ClientView {
  readonly exposure: string
  readonly reason: string
  readonly instructions?: string
  readonly instructionTokens: number
  readonly listedTokens: number
  readonly allTokens: number
  readonly listed: readonly { readonly definition: object; readonly tokens: number; readonly upstream?: string }[]
  readonly unlisted: readonly { readonly name: string; readonly tokens: number; readonly upstream?: string }[]
  readonly excluded: readonly {
    readonly name: string
    readonly upstream: string
    readonly cause: string
    readonly reason: string
  }[]
  readonly groups: readonly string[]
  readonly canActivate: boolean
  readonly search?: SearchReport
}

export interface SearchReport {
  readonly confidence: string
  readonly certainty: number
  readonly unmatched: readonly string[]
  readonly total: number
  readonly matches: readonly SearchRow[]
  readonly reply: string
  readonly replyTokens: number
}

interface SearchRow {
  readonly name: string
  readonly upstream?: string
  readonly score: number
  readonly isNamed: boolean
  readonly why?: {
    readonly words: readonly {
      readonly word: string
      readonly term: string
      readonly via: string
      readonly fields: readonly string[]
      readonly worth: number
    }[]
    readonly boost: number
  }
}

export interface Visibility {
  readonly tool: string
  readonly isListed: boolean
  readonly isUsable: boolean
  readonly reason: string
  readonly next?: string
  readonly checks: readonly { readonly check: string; readonly isPassed: boolean; readonly detail: string }[]
}

export interface UsageRow {
  readonly key: string
  readonly calls: number
  readonly failures: number
  readonly meanMs: number
  readonly maxMs: number
  readonly sentCharacters: number
  readonly receivedCharacters: number
}

/** Tokens of the tool lists that one client was sent, and of the same lists with every tool. */
export interface ListUsageRow {
  readonly client: string
  readonly host?: string
  readonly hostId?: string
  readonly lists: number
  readonly sentTokens: number
  readonly allTokens: number
}

export interface UsageReport {
  readonly since: string
  readonly byServer: readonly UsageRow[]
  readonly byTool: readonly UsageRow[]
  readonly byClient: readonly UsageRow[]
  readonly byDay: readonly UsageRow[]
  readonly lists: readonly ListUsageRow[]
  readonly unused: readonly { readonly name: string; readonly upstream: string; readonly tool: string; readonly tokens: number }[]
}

export interface ConnectableHost {
  readonly name: string
  readonly title: string
  readonly entry?: string
  readonly next: string
  readonly host?: string
  readonly lists?: number
}

export interface ToolDetail {
  readonly name: string
  readonly upstream: string
  readonly tool: string
  readonly tokens: number
  readonly definition: {
    readonly description?: string
    readonly annotations?: object
    readonly inputSchema: { readonly [keyword: string]: unknown }
  }
}

export interface ListChange {
  readonly at: string
  readonly upstream: string
  readonly changes: readonly {
    readonly tool: string
    readonly kind: 'added' | 'changed' | 'removed'
    readonly differences: readonly Difference[]
  }[]
}

interface DocumentRow {
  readonly id: string
  readonly title: string
  readonly description: string
}

export interface ServerDocuments {
  readonly prompts: readonly DocumentRow[]
  readonly resources: readonly DocumentRow[]
  readonly templates: readonly DocumentRow[]
}

export interface ServerSettings {
  readonly file: string
  readonly settings: { readonly [key: string]: unknown }
  readonly schema: { readonly [keyword: string]: unknown }
}

export interface SettingChange {
  readonly path: readonly string[]
  readonly value?: unknown
}

export interface SettingsResult {
  readonly differences: readonly Difference[]
  readonly needsApproval: boolean
  readonly isWritten: boolean
}

export interface AuditRecord {
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly client?: string
  readonly upstream?: string
  readonly tool?: string
  readonly outcome?: string
  readonly [field: string]: unknown
}

export interface AuditRecords {
  readonly isConfigured: boolean
  readonly records: readonly AuditRecord[]
}

export interface AuditVerification {
  readonly isConfigured: boolean
  readonly isIntact: boolean
  readonly chains: readonly {
    readonly path: string
    readonly files: readonly string[]
    readonly records: number
    readonly problem?: { readonly message: string; readonly file: string; readonly line: number }
    readonly notes: readonly string[]
  }[]
}

/** Who the page is signed in as. */
export interface PageSession {
  readonly token?: string
  readonly role: 'metrics' | 'viewer' | 'reviewer' | 'operator' | 'admin'
}
