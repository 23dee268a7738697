import type { Tool } from '@unfold-mcp/core'
import type { ClientStatus } from '../access/clients.ts'
import type { Role } from '../config/schema.ts'
import type { ListUsageRow } from '../gateway/list-usage.ts'
import type { CallRecord } from '../observability/journal.ts'

export type { ClientStatus } from '../access/clients.ts'
export type { Role } from '../config/schema.ts'
export type { ConfigEdit } from '../consent/edit.ts'
export type { ListUsageRow } from '../gateway/list-usage.ts'
export type { Savings } from '../gateway/savings.ts'
export type { CallRecord, ChangeRecord, LogRecord, Records, RecordType } from '../observability/journal.ts'
export type { ApprovalReport, DecidedApproval } from './approvals.ts'
export type { AuditRecords, AuditVerification } from './audit/audit-trail.ts'
export type { ReviewDecision, ReviewItem } from './review.ts'
export type { DocumentRow, ServerDocuments } from './servers/documents.ts'
export type { ServerSettings, SettingChange, SettingsRequest, SettingsResult } from './servers/settings.ts'
export type { ListChange, ToolChange } from './servers/tool-history.ts'
export type { GatewayStatus, ToolReport, UpstreamReport } from './status.ts'

/** Header that a page sends with every request to the admin API; another site cannot set it. */
export type CsrfHeader = 'x-unfold-csrf'

/** Reply of `POST /api/links`: a link that signs a browser in once. */
export interface SignInLink {
  readonly url: string
  readonly expiresAt: string
}

/** Reply of `GET /api/session`. */
export interface PageSession {
  /** Name of the token; absent for the user who runs the gateway. */
  readonly token?: string
  readonly role: Role
}

/** Body of `POST /api/session`. */
export interface SignInRequest {
  readonly token: string
}

/** A client as query of `GET /api/view` and `GET /api/why`. */
export interface ViewQuery {
  readonly era?: 'session' | 'stateless'
  /** Name of a token in the configuration, not its secret, or of a host, such as `claude-code`. */
  readonly token?: string
  readonly profile?: string
  /** Only this server (`/mcp/s/<server>`). */
  readonly server?: string
  /** The query of the client's URL, such as `groups=a,b`. */
  readonly query?: string
  /** Groups and tools that it activates first, separated by commas. */
  readonly activate?: string
  /** A query that it searches for. */
  readonly search?: string
}

/** Reply of `GET /api/view`: the list of a client that connects now. */
export interface ClientView {
  readonly era: 'session' | 'stateless'
  readonly exposure: string
  /** Why this exposure was chosen. */
  readonly reason: string
  readonly budgetTokens?: number
  readonly instructions?: string
  readonly instructionTokens: number
  readonly listedTokens: number
  readonly allTokens: number
  /** Definitions exactly as sent, in order. */
  readonly listed: readonly { readonly definition: object; readonly tokens: number; readonly upstream?: string }[]
  /** Tools that the client may use but that are not listed. */
  readonly unlisted: readonly { readonly name: string; readonly tokens: number; readonly upstream?: string }[]
  /** Tools of servers that the client cannot use, each with the first check that stops it; at most 2,000. */
  readonly excluded: readonly ExcludedTool[]
  /** Groups that a client can activate. */
  readonly groups: readonly string[]
  /** False if an activation would not change the list of this client. */
  readonly canActivate: boolean
  /** Only if the query has `search`. */
  readonly search?: SearchReport
}

export interface ExcludedTool {
  readonly name: string
  readonly upstream: string
  readonly cause: VisibilityCause
  readonly reason: string
}

/** What a search returns to a model, and why in this order. */
export interface SearchReport {
  readonly confidence: string
  /** The same as a number from 0 to 1. */
  readonly certainty: number
  /** Words without a match. */
  readonly unmatched: readonly string[]
  /** Number of tools that were searched. */
  readonly total: number
  readonly matches: readonly SearchRow[]
  /** The text that the model reads, and its cost. */
  readonly reply: string
  readonly replyTokens: number
}

export interface SearchRow {
  readonly name: string
  readonly upstream?: string
  readonly score: number
  /** The query contains its name. */
  readonly isNamed: boolean
  readonly why?: {
    /** `worth`: contribution of a word, relative to the maximum. */
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

export type VisibilityCause = 'listed' | 'attention' | 'permission' | 'policy' | 'trust' | 'availability' | 'name' | 'unknown'

/** Reply of `GET /api/why?tool=…`: why a client does or does not see a tool. */
export interface Visibility {
  readonly tool: string
  readonly upstream?: string
  /** Its name for clients, if that differs from the name on the server. */
  readonly exposedName?: string
  readonly isListed: boolean
  /** May be called, listed or not. */
  readonly isUsable: boolean
  readonly cause: VisibilityCause
  readonly reason: string
  /** What to do about it. */
  readonly next?: string
  /** All checks in order; the first failed one decides. */
  readonly checks: readonly { readonly check: VisibilityCause; readonly isPassed: boolean; readonly detail: string }[]
}

/** Sums of calls. */
export interface UsageRow {
  readonly key: string
  readonly calls: number
  readonly failures: number
  readonly meanMs: number
  readonly maxMs: number
  readonly sentCharacters: number
  readonly receivedCharacters: number
}

/** Reply of `GET /api/usage`. */
export interface Usage {
  readonly since: string
  readonly byServer: readonly UsageRow[]
  readonly byTool: readonly UsageRow[]
  readonly byClient: readonly UsageRow[]
  readonly byDay: readonly UsageRow[]
  /** Tokens of the tool lists that clients were sent. */
  /** `hostId`: as in `host=…` of an address. */
  readonly lists: readonly (ListUsageRow & { readonly hostId?: string })[]
  /** Tools that nobody has called, with their cost in a full list. */
  readonly unused: readonly { readonly name: string; readonly upstream: string; readonly tool: string; readonly tokens: number }[]
}

/** A row of `GET /api/hosts`: a host that `unfold connect` knows. */
export interface ConnectableHost {
  /** Name for `unfold connect`. */
  readonly name: string
  readonly title: string
  /** Text to paste into its configuration; absent if the host only starts commands. */
  readonly entry?: string
  /** How to make the host load the entry. */
  readonly next: string
  /** Id of its profile, as in `?host=`; absent if the gateway does not know how it behaves. */
  readonly host?: string
  /** Tool lists that it requested since the gateway started; absent if the gateway cannot tell this host from others. */
  readonly lists?: number
}

/** Reply of `GET /api/tools/<name>`. */
export interface ToolDetail {
  readonly name: string
  readonly upstream: string
  readonly tool: string
  readonly tokens: number
  /** As clients get it. */
  readonly definition: Tool
}

/** An entry of a list of events: `GET /api/calls`, `/changes`, `/logs`, `/stderr`, `/trust`. */
export type Recorded<T> = T & { readonly id: number; readonly at: string }

export type RecentCall = Recorded<CallRecord>
export type Client = ClientStatus
