/** Scripts that use up a resource, and the limits that should end them. */
export const bombs = {
  'endless loop': 'for (;;);',
  'regular expression': `/^(a+)+$/.test('a'.repeat(40) + 'b')`,
  memory: 'const all = []; for (;;) all.push(new Array(1000).fill(1))',
  recursion: 'const dive = () => 1 + dive(); dive()',
  'new Array(1e9) + ""': `new Array(1e9) + ''`,
  'a million promises':
    'const all = []; for (let i = 0; i < 1e6; i++) all.push(new Promise((resolve) => resolve(i))); await Promise.all(all)',
  'endless jobs': 'const next = () => { Promise.resolve().then(next) }; next(); await new Promise(() => {})',
  'loop after await': 'await null; for (;;);',
  'loop in toJSON': 'return { toJSON() { for (;;); } }',
  'huge result': 'return "x".repeat(5e7)',
} as const

export type Bomb = keyof typeof bombs

export const bombLimits = { cpuMs: 1_000, memoryBytes: 32 * 1_048_576, stackBytes: 256 * 1_024, resultBytes: 1_048_576 }

/** What a child process prints. */
export interface Explosion {
  readonly outcome: string
  readonly ms: number
  readonly peakMb: number
  /** Longest time for which the main thread could not do anything else. */
  readonly lagMs: number
}
