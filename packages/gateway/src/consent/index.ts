// A separate entry point: commands that only edit the configuration load faster without the gateway.
export { approveOwnEdit, type OwnEdit } from './own-edit.ts'
