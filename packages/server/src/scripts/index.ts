export type { SharePath } from '@unfold-mcp/core'
export { createScriptReader, type ReadScript, type ScriptDeclaration, type ScriptReader } from './declaration.ts'
export type {
  CallOutcome,
  ModuleExports,
  ProgramForm,
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
export { createTypeStripper, type Stripped, type TypeStripper } from './strip-types.ts'
