import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that take longest, the longest first. */
export const slowFiles: readonly string[] = [
  'test/soak.test.ts',
  'test/docs/site.browser.test.ts',
  'packages/cli/test/secrets.test.ts',
  'test/conformance/conformance.test.ts',
  'packages/cli/test/gateway-starts.test.ts',
  'packages/cli/test/pipes.test.ts',
  'packages/browser/test/generate-test.test.ts',
  'packages/cli/test/gateway.test.ts',
  'packages/browser/test/command.test.ts',
  'packages/cli/test/gateway-config.test.ts',
  'packages/browser/test/tools-scenarios.test.ts',
  'test/release/contents.test.ts',
  'packages/server/src/plugins/folder.e2e.test.ts',
  'packages/gateway/src/upstreams/upstream.e2e.test.ts',
  'packages/browser/test/generate-reproduction.test.ts',
  'packages/cli/test/untrusted.test.ts',
  'test/release/packed.test.ts',
  'packages/cli/test/reference-servers.test.ts',
  'test/property.test.ts',
  'packages/gateway/test/faults/audit.test.ts',
  'packages/browser/test/browser-faults.test.ts',
  'test/release/docker.test.ts',
  'packages/cli/test/review.test.ts',
  'packages/gateway/test/sandbox/escape.test.ts',
  'packages/browser/test/dom.test.ts',
  'packages/browser/test/analyze-accessibility.test.ts',
  'packages/gateway/test/sandbox/install.test.ts',
  'packages/gateway/test/approvals.test.ts',
  'packages/gateway/test/cluster/redis.test.ts',
  'packages/gateway/test/cluster/failures.test.ts',
  'packages/gateway/test/cluster/stores.test.ts',
  'packages/cli/test/preview.test.ts',
  'packages/cli/test/config-consent.test.ts',
  'packages/cli/test/generate.test.ts',
  'test/scenarios/identity.test.ts',
  'packages/cli/test/misbehaving-servers.test.ts',
  'test/release/release.test.ts',
  'packages/gateway/test/faults/streams.test.ts',
  'packages/cli/test/gateway-verify.test.ts',
  'test/scenarios/command-line.test.ts',
  'packages/gateway/test/sandbox/lifecycle.test.ts',
  'test/attacks/replies.test.ts',
  'packages/cli/test/login.test.ts',
  'test/attacks/concurrent-clients.test.ts',
  'packages/gateway/test/faults/network.test.ts',
  'packages/browser/test/generate-recorded.test.ts',
  'packages/cli/test/bridge.test.ts',
  'packages/gateway/test/faults/strays.test.ts',
  'test/docs/client.test.ts',
  'examples/test/automation-hub.test.ts',
  'test/attacks/careless.test.ts',
  'packages/gateway/test/hostile-servers.test.ts',
  'packages/gateway/src/upstreams/process/guard.e2e.test.ts',
  'packages/gateway/test/proxy-documents.test.ts',
]

/**
 * Starts the slow files before all others of their group, across projects, so that no slow file runs alone at the end. By default
 * Vitest sorts within a project only, and by the durations of earlier runs, which a fresh clone does not have. Vitest reads the
 * sequencer of the root configuration, not of a project.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = slowFiles.indexOf(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/'))
      return index === -1 ? slowFiles.length : index
    }
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    return (await super.sort(files)).toSorted((a, b) => group(a) - group(b) || rank(a) - rank(b))
  }
}
