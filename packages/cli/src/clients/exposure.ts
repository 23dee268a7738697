import { hostById } from '@unfold-mcp/core'
import { usageError } from '../base/exit.ts'
import type { Loading } from './clients.ts'
import type { Deferral } from './deferral.ts'

export const exposureNames = ['auto', 'everything', 'native', 'groups', 'lazy', 'search', 'code'] as const

export type ExposureName = (typeof exposureNames)[number]

export function parseExposure(name: string): ExposureName {
  const found = exposureNames.find((each) => each === name)
  if (found === undefined) throw usageError(`--exposure must be one of ${exposureNames.join(', ')}, not "${name}".`)
  return found
}

export interface ExposureChoice {
  readonly exposure: ExposureName
  /** Whether the URL requests it; otherwise the gateway configuration decides. */
  readonly isExplicit: boolean
  readonly why: string
}

export interface ExposureFacts {
  readonly title: string
  readonly host: string
  readonly flag: ExposureName | undefined
  readonly address: ExposureName | undefined
  readonly configured: ExposureName | undefined
  readonly deferral: Deferral | undefined
}

/** Chooses `native` if the client defers tools itself, otherwise leaves the choice to the gateway. */
export function chooseExposure({ title, host, flag, address, configured, deferral }: ExposureFacts): ExposureChoice {
  if (flag !== undefined) return { exposure: flag, isExplicit: true, why: 'Set by --exposure.' }
  if (address !== undefined) return { exposure: address, isExplicit: true, why: 'Set by the URL.' }
  if (configured !== undefined && configured !== 'auto')
    return { exposure: configured, isExplicit: false, why: 'Set by the gateway configuration.' }
  if (deferral?.isOn === true) return { exposure: 'native', isExplicit: true, why: deferral.why }
  if (deferral !== undefined) return { exposure: 'auto', isExplicit: deferral.isOverridden === true, why: deferral.why }
  const why =
    hostById(host)?.defers === 'never' ? `${title} does not defer tools.` : 'All tools within the token budget, search above it.'
  return { exposure: 'auto', isExplicit: false, why }
}

/** A short list must not be deferred, because it contains the search tool. */
export function loadingFor(exposure: ExposureName): Loading {
  if (exposure === 'native') return 'deferred'
  return exposure === 'everything' ? 'unset' : 'loaded'
}
