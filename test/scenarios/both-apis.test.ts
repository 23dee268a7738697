import { expect } from 'vitest'
import { automationHub, hintingHub } from '../fixtures/automation-hub.ts'
import { codeAnalyzer } from '../fixtures/code-analyzer.ts'
import { devopsHub } from '../fixtures/devops-hub.ts'
import { hybrid } from '../fixtures/hybrid.ts'
import { verifies } from '../verifies.ts'

verifies('R09-4', () => {
  for (const fixture of [codeAnalyzer, automationHub, hintingHub, devopsHub, hybrid]) {
    expect(fixture.variants).toEqual(['toolbox', 'decorators'])
    const [one, other] = fixture.variants.map((variant) => fixture.make(variant).served.constructor.name)
    expect(one).not.toBe(other)
  }
})
