export {
  type Activation,
  type DeactivationReason,
  type Entry,
  type Exposure,
  type FactSource,
  type Facts,
  Failure,
  type FailureDetails,
  type FailureKind,
  type GroupDeclaration,
  type IdentityBasis,
  isFailure,
  type JsonSchema,
  LiveFacts,
  type Mode,
  type ModePolicy,
  type Modes,
  type Origin,
  type Predicate,
  type Problem,
  type Quota,
  type Reason,
  reasons,
  type ScriptLimit,
  type SharePath,
  type Snapshot,
  type Surface,
  signature,
  type Tool,
  type ToolAnnotations,
  type ToolReason,
  type Visibility,
} from '@unfold-mcp/core'
export { adopt } from './adopt.ts'
export type { Adopted, AdoptOptions } from './adopted.ts'
export type {
  CodeConfirm,
  CodeLimits,
  CodeOptions,
  ProposedCall,
  ScriptConsent,
  ScriptRunRecord,
} from './catalog/code-options.ts'
export type { Extension, GroupOptions, HiddenCalls, RejectedCall, Remember, SentList, Served } from './catalog/declaration.ts'
export type { ExposureMode, ExposureOptions } from './catalog/exposure-options.ts'
export type { GroupHooks, HookContext } from './catalog/group-hooks.ts'
export type { MessageLimits } from './catalog/message-limits.ts'
export type { PermitSource, Place } from './catalog/permissions.ts'
export type { Preview, PreviewedSearch, PreviewOptions } from './operations/preview.ts'
export { runScript } from './operations/scripts/run-stored.ts'
export type { StoredScript } from './operations/scripts/stored-script.ts'
export { SdkPort } from './protocol/sdk-port.ts'
export type { SessionClient } from './protocol/session/session.ts'
export type { Resumption } from './protocol/session/session-http.ts'
export type { SessionLimits, SessionsOptions } from './protocol/session/sessions.ts'
export type { ChangeNotifier, PrincipalFilter, SubscriptionStream } from './protocol/stateless.ts'
export { type RegisteredTool, type RegistryOptions, ToolRegistry } from './registry.ts'
export type { Servable } from './runtime/servable.ts'
export {
  type InputSchema,
  inputSchema,
  outputSchema,
  type Schema,
  type SchemaSource,
  type ValidationResult,
  type ValueOf,
} from './schema/schema.ts'
export type { StandardIssue, StandardResult, StandardSchema } from './schema/standard-schema.ts'
export { memoryStore } from './stores/memory.ts'
export { memoryScriptStore, type ScriptStore } from './stores/script-store.ts'
export type {
  ClientKnowledge,
  KeptEvent,
  ServedList,
  SessionEvent,
  SessionRecord,
  SessionStore,
  StoredSession,
} from './stores/session-store.ts'
export { parseSessionEvent, parseSessionRecord } from './stores/session-store.ts'
export { StateCipher } from './stores/state-cipher.ts'
export type { ActivationStore } from './stores/store.ts'
export type { AskOptions, ClientMethod, ClientPort, ElicitParams } from './tool/client-port.ts'
export type { CompositeConfig, ModeConfig, ModeConfigs, ModeHandlers, ModeInput, ModeSettings } from './tool/composite.ts'
export type { Era, GroupStatus, ScriptCaller, ToolContext } from './tool/context.ts'
export type { Source, ToolEntry, ToolHandler } from './tool/entry.ts'
export type { Principal } from './tool/principal.ts'
export type { Report, Reporter } from './tool/report.ts'
export { type HandlerResult, ToolError, type ToolErrorOptions } from './tool/result.ts'
export type { InputOf, ResultOf, ToolConfig } from './tool/tool-config.ts'
export type { Transition } from './tool/transition.ts'
export { ToolGroups } from './tool-groups.ts'
export { type CompositeToolConfig, defineToolbox, type ScriptToolConfig, Toolbox } from './toolbox.ts'
export type { GateOptions, GroupsOf, Introduction, LimitOptions, ProtocolOptions, ToolboxOptions } from './toolbox-options.ts'
export {
  type AuthResult,
  addressShare,
  createHandler,
  type Handler,
  type HandlerOptions,
  unauthorized,
} from './transports/handler.ts'
export { type ListeningServer, type ListenOptions, listen, toNodeHandler } from './transports/node.ts'
export type { OriginRules } from './transports/origin.ts'
export type { RejectionOptions } from './transports/rejections.ts'
export { type ServeOptions, serve } from './transports/serve.ts'
export { type SlowClient, type SlowClientOptions, slowClientMessage } from './transports/slow-client.ts'
export { type StdioClient, type StdioOptions, serveStdio } from './transports/stdio.ts'
export type { BufferedReply, Exchange, Reply, RequestHead } from './wire/exchange.ts'
