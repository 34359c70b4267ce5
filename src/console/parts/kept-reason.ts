import { AnswerError } from '../api/call.ts';
import { queryClient } from '../api/queries.ts';

/** The window of an action, and who had it open: the windows of several bets may have one title. */
interface OpenWindow {
  readonly actor: string;
  readonly title: string;
  /** What it changes; undefined if title and page say so. */
  readonly subject: string | undefined;
}

/** A reason that was half typed when the session ended. */
interface KeptReason {
  readonly window: string;
  readonly text: string;
}

/** Of this tab alone, and gone with it; signing in with an account or a link leaves the page. */
const KEY = 'wagergate.reason';

/** Whether who was known here is known no more: then what is typed goes with the page. */
export function isSessionOver(): boolean {
  const error = queryClient.getQueryState(['GET /admin/me', {}])?.error;
  return error instanceof AnswerError && error.status === 401;
}

export function keepReason(of: OpenWindow, text: string): void {
  try {
    const kept: KeptReason = { window: identityOf(of), text };
    window.sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing of a site.
  }
}

/** What the same person had typed into the same window on the same page, once; nobody else reads it. */
export function takeReason(of: OpenWindow): string {
  try {
    const kept: Partial<KeptReason> = JSON.parse(window.sessionStorage.getItem(KEY) ?? '{}');
    if (kept.window !== identityOf(of)) return '';
    window.sessionStorage.removeItem(KEY);
    return typeof kept.text === 'string' ? kept.text : '';
  } catch {
    return '';
  }
}

function identityOf({ actor, title, subject }: OpenWindow): string {
  const { pathname, search } = window.location;
  return JSON.stringify([actor, pathname + search, title, subject]);
}
