import { styleText } from 'node:util';
import { systemClock } from '../../src/domain/clock.ts';

/** The result of a step, in words for people. */
export interface StepResult {
  readonly came: string;
  /** How long the step's call took, if it has one. */
  readonly ms?: number;
}

/** A step had another result than the protocol promises. */
export class NotAsPromised extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string) {
    super(`expected ${expected}; got ${got}`);
    this.expected = expected;
    this.got = got;
  }
}

/** A step failed and was printed: the rest of its scene makes no sense any more. */
class SceneOver extends Error {}

const WHO_WIDTH = 13;
const DOING_WIDTH = 36;
const CAME_WIDTH = 47;
const MS_WIDTH = 9;

/** Prints the demo as it happens, a line per step; with colours only on a terminal. */
export class Narrator {
  readonly #out: NodeJS.WriteStream;
  readonly #failures: string[] = [];
  #steps = 0;
  #silent = false;
  #onProgressLine = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Every step that failed, in words. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Prints nothing from now on: what is still under way has been given up. */
  silence(): void {
    this.#endProgress();
    this.#silent = true;
  }

  /** On a terminal, the next line replaces this one. */
  progress(doing: string): void {
    if (this.#silent) return;
    this.#endProgress();
    this.#onProgressLine = this.#out.isTTY;
    this.#out.write(this.#dim(`${doing} ...`) + (this.#onProgressLine ? '' : '\n'));
  }

  line(text = ''): void {
    if (this.#silent) return;
    this.#endProgress();
    this.#out.write(`${text}\n`);
  }

  heading(text: string): void {
    this.line();
    this.line(this.#styled('bold', text));
  }

  good(text: string): void {
    this.line(this.#styled('green', text));
  }

  bad(text: string): void {
    this.line(this.#styled('red', text));
  }

  /** Plays the steps under one heading. @returns false if one failed and the rest was skipped */
  async scene(title: string, play: () => Promise<void>): Promise<boolean> {
    this.heading(title);
    try {
      await play();
      return true;
    } catch (error) {
      if (!(error instanceof SceneOver)) throw error;
      return false;
    }
  }

  /**
   * Does one step, then prints its result. @param who operator, or operator and player
   * @throws an error that only `scene` handles, after the failure was printed
   */
  async step<T extends StepResult>(who: string, doing: string, act: () => Promise<T>): Promise<T> {
    this.#steps += 1;
    const start = `  ${who.padEnd(WHO_WIDTH)}${doing.padEnd(DOING_WIDTH)}`;
    try {
      const result = await act();
      const ms = result.ms === undefined ? '' : `${Math.round(result.ms)} ms`.padStart(MS_WIDTH);
      this.line(
        ms === '' ? start + result.came : start + result.came.padEnd(CAME_WIDTH) + this.#dim(ms),
      );
      return result;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#failures.push(`${who}: ${doing}: ${why}`);
      this.bad(`${start}FAILED: ${why}`);
      throw new SceneOver();
    }
  }

  #endProgress(): void {
    if (this.#onProgressLine) this.#out.write('\r\x1b[2K');
    this.#onProgressLine = false;
  }

  #dim(text: string): string {
    return this.#styled('dim', text);
  }

  #styled(style: 'bold' | 'dim' | 'green' | 'red', text: string): string {
    return styleText(style, text, { stream: this.#out });
  }
}

/** Measures a step that is not a single call. */
export async function timed<T>(act: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const startedAtMs = systemClock.monotonicMs();
  const value = await act();
  return { value, ms: systemClock.monotonicMs() - startedAtMs };
}
