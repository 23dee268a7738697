import { ToolError } from '@unfold-mcp/server'
import { type Pod, podsOf, type Rollout, stageOf } from './rollout.ts'
import { buckets, type Cloud, type Instance, instances, type Service, services } from './shop.ts'

export interface Event {
  readonly at: string
  readonly level: 'info' | 'warning'
  readonly source: string
  readonly message: string
}

/** Start time of a machine. */
const bootMs = 3_000

/** The simulated shop, in memory. Operations progress with the injected clock. */
export class Fleet {
  readonly now: () => number
  readonly events: Event[] = []
  readonly #instances = new Map(instances.map((instance) => [instance.id, instance]))
  readonly #services = new Map(services.map((service) => [service.name, service]))
  readonly #rollouts: Rollout[] = services.map(firstRollout)

  constructor(now: () => number) {
    this.now = now
    this.#log('info', 'fleet', 'The shop is open.')
  }

  instances(cloud?: Cloud): readonly (Instance & { readonly state: string })[] {
    const chosen = [...this.#instances.values()].filter((instance) => cloud === undefined || instance.cloud === cloud)
    return chosen.map((instance) => ({ ...instance, state: this.#stateOf(instance) }))
  }

  buckets(cloud: Cloud): readonly (typeof buckets)[number][] {
    return buckets.filter((bucket) => bucket.cloud === cloud)
  }

  /** Starts or stops a machine and returns its state. Does nothing if it already has that state. */
  turn(cloud: Cloud, id: string, turned: Instance['turned']): string {
    const instance = this.#instances.get(id)
    if (instance?.cloud !== cloud) {
      const known = this.instances(cloud).map((each) => each.id)
      throw new ToolError(`Unknown instance "${id}" on ${cloud}. Instances: ${known.join(', ')}.`)
    }
    if (instance.turned === turned) return `${id} is ${this.#stateOf(instance)} already.`
    const next = { ...instance, turned, since: this.now() }
    this.#instances.set(id, next)
    this.#log('info', instance.name, `Turned ${turned}.`)
    return `${id} is ${this.#stateOf(next)}.`
  }

  services(): readonly Service[] {
    return [...this.#services.values()]
  }

  pods(service: string): readonly Pod[] {
    return podsOf(this.#current(service), this.#service(service).replicas, this.now())
  }

  /** All rollouts, oldest first. */
  rollouts(service?: string): readonly Rollout[] {
    if (service !== undefined) this.#service(service)
    return this.#rollouts.filter((rollout) => service === undefined || rollout.service === service)
  }

  scale(name: string, replicas: number): void {
    const service = this.#idle(name)
    this.#services.set(name, { ...service, replicas })
    this.#log('info', name, `Scaled to ${replicas} pods.`)
  }

  /** Starts replacing the pods of a service, one after another. */
  deploy(name: string, version: string): Rollout {
    const { releases, replicas } = this.#idle(name)
    const release = releases.find((each) => each.version === version)
    if (release === undefined) {
      throw new ToolError(`${name} has no release "${version}". Releases: ${releases.map((each) => each.version).join(', ')}.`)
    }
    const from = this.#current(name).to
    if (from === version) throw new ToolError(`${name} already runs ${version}. Choose another release.`)
    const id = `deploy-${this.#rollouts.length - services.length + 1}`
    const broken = release.broken === true
    const made: Rollout = { id, service: name, from, to: version, broken, pods: replicas, started: this.now(), rolledBack: false }
    this.#rollouts.push(made)
    this.#log('info', name, `${id}: from ${from} to ${version}.`)
    return made
  }

  /** Restores the release before the latest rollout of a service. */
  rollback(name: string): Rollout {
    const last = this.#current(name)
    if (last.from === undefined) throw new ToolError(`${name} still runs its initial release. Nothing to roll back.`)
    const next = { ...last, rolledBack: true }
    this.#rollouts[this.#rollouts.indexOf(last)] = next
    this.#log('warning', name, `${last.id}: rolled back to ${last.from}.`)
    return next
  }

  #service(name: string): Service {
    const found = this.#services.get(name)
    if (found === undefined) throw new ToolError(`Unknown service "${name}". Services: ${[...this.#services.keys()].join(', ')}.`)
    return found
  }

  /** Returns the service; throws during a rollout. */
  #idle(name: string): Service {
    const service = this.#service(name)
    const { id } = this.#current(name)
    if (stageOf(this.#current(name), this.now()) === 'done') return service
    throw new ToolError(`${id} of ${name} is still running. Watch it with deploy_status, or undo it with deploy_rollback.`)
  }

  /** Returns the latest rollout of a service. */
  #current(name: string): Rollout {
    this.#service(name)
    const found = this.#rollouts.findLast((rollout) => rollout.service === name && !rollout.rolledBack)
    if (found === undefined) throw new ToolError(`${name} was never rolled out.`)
    return found
  }

  #stateOf({ turned, since }: Instance): 'running' | 'starting' | 'stopped' {
    if (turned === 'off') return 'stopped'
    return this.now() - since < bootMs ? 'starting' : 'running'
  }

  #log(level: Event['level'], source: string, message: string): void {
    this.events.push({ at: new Date(this.now()).toISOString(), level, source, message })
  }
}

function firstRollout({ name, replicas, releases }: Service): Rollout {
  const to = releases[0]?.version ?? '0'
  return { id: `first-${name}`, service: name, from: undefined, to, broken: false, pods: replicas, started: 0, rolledBack: false }
}
