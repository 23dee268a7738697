export type { SharePath } from '@unfold-mcp/core'
export type {
  CallOutcome,
  ScriptCall,
  ScriptEngine,
  ScriptError,
  ScriptLimits,
  ScriptMachine,
  ScriptOptions,
  ScriptProgram,
  ScriptTurn,
} from './engine.ts'
export { type QuickJsOptions, quickJsEngine } from './quickjs/engine.ts'
