// A separate entry point: only programs that edit configuration files need it.
export { type Edit, EditError, lineBreakOf, unsafeEdit, verified } from './edit.ts'
export { type PlannedEdit, planEdit, type Written, writeEdit } from './file.ts'
export { appendJson, jsonAt, type Path, removeItemJson, removeJson, setJson } from './json.ts'
