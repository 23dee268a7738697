// A separate entry point: commands that only edit the configuration load faster without the gateway.

export type { ConfigEdit, ConfigEditChange } from './edit.ts'
export { approveOwnEdit } from './own-edit.ts'
