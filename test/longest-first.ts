import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that take longest: those of browsers, then the others; the longest first. */
export const slowFiles: readonly string[] = [
  'test/docs/site.browser.test.ts',
  'test/conformance/conformance.test.ts',
  'packages/browser/test/tools-scenarios.test.ts',
  'packages/browser/test/command.test.ts',
  'packages/browser/test/analyze-accessibility.test.ts',
  'packages/browser/test/browser-faults.test.ts',
  'packages/browser/test/generate-reproduction.test.ts',
  'packages/browser/test/generate-test.test.ts',
  'packages/browser/test/dom.test.ts',
  'packages/browser/test/generate-recorded.test.ts',
  'packages/browser/test/tools-bad-input.test.ts',
  'packages/browser/test/tools-tables.test.ts',
  'packages/browser/test/capture-actions.test.ts',
  'packages/dashboard/test/dashboard.browser.test.ts',
  'packages/browser/test/capture-network.test.ts',
  'packages/browser/test/capture-vitals.test.ts',
  'packages/browser/test/tools-private.test.ts',
  'test/cluster/history.test.ts',
  'test/release/packed.test.ts',
  'test/release/contents.test.ts',
  'packages/cli/test/pipes.test.ts',
  'packages/cli/test/secrets.test.ts',
  'packages/cli/test/gateway-starts.test.ts',
  'packages/cli/test/gateway.test.ts',
  'test/release/docker.test.ts',
  'packages/cli/test/gateway-config.test.ts',
  'test/docs/client.test.ts',
  'packages/gateway/test/faults/audit.test.ts',
  'test/attacks/corpus.test.ts',
  'packages/cli/test/generate.test.ts',
  'packages/cli/test/preview.test.ts',
  'packages/server/src/plugins/folder.e2e.test.ts',
  'test/release/release.test.ts',
  'packages/cli/test/review.test.ts',
  'test/scenarios/large.test.ts',
  'packages/gateway/src/upstreams/upstream.e2e.test.ts',
  'packages/cli/test/misbehaving-servers.test.ts',
  'test/soak.test.ts',
  'packages/gateway/test/cluster/status.test.ts',
  'packages/gateway/test/cluster/stores.test.ts',
  'test/docs/guides.test.ts',
  'examples/test/code-intelligence.test.ts',
  'test/cluster/rolling.test.ts',
  'test/release/deploy.test.ts',
  'packages/gateway/test/faults/system.test.ts',
  'test/scenarios/finding.test.ts',
  'packages/cli/test/init.test.ts',
  'packages/gateway/test/trust.test.ts',
  'packages/gateway/test/hostile-servers.test.ts',
  'test/scenarios/preview.test.ts',
  'packages/cli/test/policy.test.ts',
  'test/scenarios/groups.test.ts',
  'packages/cli/test/gateway-clients.test.ts',
  'packages/client/test/changes.test.ts',
  'packages/gateway/test/http.test.ts',
  'packages/cli/src/completion/shells.e2e.test.ts',
  'packages/cli/test/placement.test.ts',
  'test/scenarios/gateway-servers.test.ts',
  'packages/cli/test/config-consent.test.ts',
  'packages/gateway/test/approvals.test.ts',
  'packages/cli/test/bridge.test.ts',
  'test/property.test.ts',
  'packages/gateway/test/gateway.test.ts',
  'packages/gateway/test/faults/strays.test.ts',
  'packages/gateway/test/faults/streams.test.ts',
  'test/attacks/concurrent-clients.test.ts',
  'packages/cli/test/login.test.ts',
  'packages/gateway/src/upstreams/process/guard.e2e.test.ts',
  'packages/cli/test/interactive.test.ts',
  'packages/cli/test/gateway-verify.test.ts',
  'packages/gateway/test/cluster/placement.test.ts',
  'packages/cli/test/attacks-config.test.ts',
  'packages/gateway/test/proxy-documents.test.ts',
  'examples/test/automation-hub.test.ts',
  'packages/gateway/test/cluster/failures.test.ts',
  'test/attacks/lines.test.ts',
  'packages/gateway/test/faults/network.test.ts',
  'packages/gateway/test/cluster/redis.test.ts',
  'packages/cli/test/reference-servers.test.ts',
  'packages/gateway/test/restless-servers.test.ts',
  'test/scenarios/gateway-changes.test.ts',
  'packages/cli/test/gateway-login.test.ts',
  'packages/cli/test/untrusted.test.ts',
  'packages/gateway/test/sandbox/lifecycle.test.ts',
  'packages/client/test/stdio.test.ts',
  'test/scenarios/state-aware.test.ts',
  'packages/gateway/test/faults/processes.test.ts',
  'test/docs/pictures.test.ts',
  'packages/cli/test/list.test.ts',
  'test/attacks/replies.test.ts',
  'packages/gateway/test/faults/certificates.test.ts',
  'packages/cli/test/tree.test.ts',
  'test/attacks/careless.test.ts',
  'packages/cli/test/sandbox.test.ts',
]

/**
 * Starts the slow files of a project before its others, so that no slow file runs alone at the end. By default Vitest sorts by the
 * durations of earlier runs, which a fresh clone does not have. The project with the most files is last in its group: Vitest starts a
 * new worker, which imports everything again, whenever the project changes. Vitest reads the sequencer of the root configuration, not
 * of a project.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = slowFiles.indexOf(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/'))
      return index === -1 ? slowFiles.length : index
    }
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    const isLast = ({ project }: TestSpecification): number => Number(project.name === 'e2e')
    return (await super.sort(files)).toSorted((a, b) => group(a) - group(b) || isLast(a) - isLast(b) || rank(a) - rank(b))
  }
}
