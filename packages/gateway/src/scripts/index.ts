// A separate entry point: commands that work with script files load faster without the gateway.
export { isScriptFile } from '../config/scripts/files.ts'
export { type CaseReport, parseCases, type RecordedCall, type RecordedCase, runRecorded } from './recorded-calls.ts'
export { type OpenScripts, openScripts, type ReadScripts, type ScriptFile } from './script-files.ts'
export { scriptFrom, scriptName } from './script-text.ts'
