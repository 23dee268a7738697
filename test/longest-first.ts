import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files that take longest, the longest first. */
export const slowFiles: readonly string[] = []

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
