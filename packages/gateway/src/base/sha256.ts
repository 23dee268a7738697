import { hash } from 'node:crypto'
import type { Sha256 } from '@unfold-mcp/core'

export const sha256: Sha256 = (data) => Buffer.from(hash('sha256', data, 'hex'), 'hex')
