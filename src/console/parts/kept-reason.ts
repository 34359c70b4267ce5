import { AnswerError } from '../api/call.ts';
import { queryClient } from '../api/queries.ts';

/** A reason that was half typed when the session ended. */
interface KeptReason {
  readonly actor: string;
  readonly title: string;
  readonly text: string;
}

/** Of this tab alone, and gone with it; signing in with an account or a link leaves the page. */
const KEY = 'wagergate.reason';

/** Whether who was known here is known no more: then what is typed goes with the page. */
export function isSessionOver(): boolean {
  const error = queryClient.getQueryState(['GET /admin/me', {}])?.error;
  return error instanceof AnswerError && error.status === 401;
}

export function keepReason(kept: KeptReason): void {
  try {
    window.sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing of a site.
  }
}

/** What the same person had typed into the same window, once; nobody else reads it. */
export function takeReason(actor: string, title: string): string {
  try {
    const kept: Partial<KeptReason> = JSON.parse(window.sessionStorage.getItem(KEY) ?? '{}');
    window.sessionStorage.removeItem(KEY);
    const isOwn = kept.actor === actor && kept.title === title;
    return isOwn && typeof kept.text === 'string' ? kept.text : '';
  } catch {
    return '';
  }
}
