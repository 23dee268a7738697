import type { AuditFault } from '../../records/records.ts'

export type Level = 'error' | 'warning' | 'note'
export interface Message {
  readonly text: string
}

/** Subset of SARIF 2.1.0 for an audit. */
export interface Sarif {
  readonly $schema: string
  readonly version: '2.1.0'
  readonly runs: readonly [SarifRun]
}

export interface SarifRun {
  readonly tool: {
    readonly driver: {
      readonly name: string
      readonly version: string
      readonly rules: readonly SarifRule[]
    }
  }
  readonly automationDetails: { readonly id: string }
  readonly invocations: readonly {
    readonly executionSuccessful: true
    readonly endTimeUtc: string
    readonly toolExecutionNotifications: readonly { readonly level: Level; readonly message: Message }[]
  }[]
  readonly artifacts: readonly { readonly location: { readonly uri: string }; readonly roles: readonly ['analysisTarget'] }[]
  readonly results: readonly SarifResult[]
  readonly columnKind: 'utf16CodeUnits'
  readonly properties: { readonly engine: string; readonly passes: number; readonly incomplete: number }
}

export interface SarifRule {
  readonly id: string
  readonly shortDescription: Message
  readonly fullDescription: Message
  readonly help: Message
  readonly helpUri?: string
  readonly defaultConfiguration: { readonly level: Level }
  readonly properties: { readonly tags: readonly string[] }
}

export interface SarifResult {
  readonly ruleId: string
  readonly ruleIndex: number
  readonly level: Level
  readonly message: Message
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string; readonly index: 0 }
      readonly region: { readonly startLine: 1; readonly snippet?: Message }
    }
    readonly logicalLocations?: readonly { readonly fullyQualifiedName: string; readonly kind: 'element' }[]
  }[]
  readonly partialFingerprints: { readonly 'ruleAndElement/v1': string }
  readonly properties: { readonly impact: AuditFault['impact'] }
}
