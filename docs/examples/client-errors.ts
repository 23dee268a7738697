//#region errors
import { connect, isClientError, type Target } from '@unfold-mcp/client'

export async function waterBed(garden: Target, bed: unknown): Promise<string> {
  try {
    await using connection = await connect(garden, { timeoutMs: 10_000 })
    const { isError } = await connection.call('water', { bed })
    return isError ? 'It could not be watered.' : 'Watered.'
  } catch (error) {
    if (isClientError(error, 'invalid_arguments')) return error.details.problems.map(({ message }) => message).join(' ')
    if (isClientError(error, 'unreachable')) return `Nobody is at ${error.details.target}.`
    throw error
  }
}
//#endregion
