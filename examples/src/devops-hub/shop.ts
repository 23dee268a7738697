/** Initial state of the simulated shop. */
export type Cloud = 'aws' | 'gcp'

export interface Instance {
  readonly id: string
  readonly cloud: Cloud
  readonly name: string
  readonly zone: string
  readonly turned: 'on' | 'off'
  /** Time of the last start or stop, in milliseconds. */
  readonly since: number
}

export interface Service {
  readonly name: string
  readonly replicas: number
  readonly releases: readonly { readonly version: string; readonly broken?: true }[]
}

const longAgo = { since: 0 } as const

export const instances: readonly Instance[] = [
  { id: 'i-0a11', cloud: 'aws', name: 'web-1', zone: 'eu-central-1a', turned: 'on', ...longAgo },
  { id: 'i-0a12', cloud: 'aws', name: 'web-2', zone: 'eu-central-1b', turned: 'on', ...longAgo },
  { id: 'i-0b07', cloud: 'aws', name: 'batch-1', zone: 'eu-central-1a', turned: 'off', ...longAgo },
  { id: 'gce-301', cloud: 'gcp', name: 'search-1', zone: 'europe-west3-a', turned: 'on', ...longAgo },
  { id: 'gce-302', cloud: 'gcp', name: 'search-2', zone: 'europe-west3-b', turned: 'off', ...longAgo },
]

export const buckets = [
  { cloud: 'aws', name: 'shop-images', objects: 48_211, megabytes: 9_730 },
  { cloud: 'aws', name: 'shop-backups', objects: 365, megabytes: 120_400 },
  { cloud: 'gcp', name: 'search-index', objects: 92, megabytes: 3_310 },
] as const

export const services: readonly Service[] = [
  { name: 'checkout', replicas: 3, releases: [{ version: '1.4.0' }, { version: '1.4.1' }, { version: '1.5.0', broken: true }] },
  { name: 'catalog', replicas: 4, releases: [{ version: '2.0.3' }, { version: '2.1.0' }] },
]
