export {
  type FactSource,
  type Facts,
  Failure,
  type FailureDetails,
  isFailure,
  LiveFacts,
  type ModePolicy,
  type Predicate,
  type Quota,
  type Reason,
  reasons,
  type Snapshot,
  signature,
  type Tool,
  type ToolAnnotations,
} from '@unfold-mcp/core'
export { adopt } from './adopt.ts'
export type { Adopted, AdoptOptions } from './adoption/adopted.ts'
export type { CompositeConfig, ModeConfig, ModeHandlers, ModeInput } from './composite.ts'
export type { Era, ToolContext } from './context.ts'
export type { Source, ToolEntry, ToolHandler } from './entry.ts'
export type { Principal } from './principal.ts'
export type { AskOptions, ClientMethod, ClientPort, ElicitParams } from './protocol/client-port.ts'
export { SdkPort } from './protocol/sdk-port.ts'
export type { SessionClient } from './protocol/sessions.ts'
export type { DocumentNotices, ListeningStream } from './protocol/stateless.ts'
export { type RegisteredTool, type RegistryOptions, ToolRegistry } from './registry.ts'
export type { Report, Reporter } from './report.ts'
export { type HandlerResult, ToolError } from './result.ts'
export type { Extension, GroupOptions, HiddenCalls, Remember, Served } from './runtime/declaration.ts'
export type { PermitSource, Place } from './runtime/permissions.ts'
export type { ExposureOptions, Wished } from './runtime/presentation.ts'
export type { Preview, PreviewOptions } from './runtime/preview.ts'
export type { GroupStatus } from './runtime/runtime.ts'
export type { GroupHooks, HookContext, Transition } from './runtime/transition.ts'
export { memoryStore } from './stores/memory.ts'
export type { ActivationStore } from './stores/store.ts'
export type { ToolConfig } from './tool-config.ts'
export { ToolGroups } from './tool-groups.ts'
export { defineToolbox, type GateOptions, type Introduction, Toolbox, type ToolboxOptions } from './toolbox.ts'
export type { RequestHead } from './transports/exchange.ts'
export { createHandler, type Handler, type HandlerOptions, type Identified, unauthorized } from './transports/handler.ts'
export { type Listening, type ListenOptions, listen, toNodeHandler } from './transports/node.ts'
export { type ServeOptions, serve } from './transports/serve.ts'
export { type StdioClient, type StdioOptions, serveStdio } from './transports/stdio.ts'
