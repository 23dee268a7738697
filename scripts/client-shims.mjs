// Replaces `@modelcontextprotocol/client/_shims` in the bundle of the command. The original loads Ajv, a tenth of the time of a start;
// our client passes a validator of its own.
export const CORS_IS_POSSIBLE = false

export function DefaultJsonSchemaValidator() {
  throw new Error('The bundled command has no default validator: pass jsonSchemaValidator')
}
