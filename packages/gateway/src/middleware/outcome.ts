import { isFailure } from '@unfold-mcp/core'
import { UpstreamError } from '../upstreams/errors.ts'
import { ShuttingDownError } from './call-gate.ts'
import type { ProxiedResult } from './chain.ts'
import { DeniedError } from './denied.ts'

export function outcomeOf(result: ProxiedResult): 'ok' | 'error' | 'input_required' {
  if ('resultType' in result && result.resultType === 'input_required') return 'input_required'
  return 'isError' in result && result.isError === true ? 'error' : 'ok'
}

export function reasonOf(error: unknown): string {
  if (error instanceof UpstreamError) return error.kind
  if (error instanceof ShuttingDownError) return 'shutting_down'
  return error instanceof DeniedError || isFailure(error) ? error.reason : 'failed'
}
