import { QueryClient, useQuery } from '@tanstack/react-query';
import { AnswerError, type CallOptions, call } from './call.ts';
import type { Answers, Route } from './wire.ts';

/** How often a page refreshes what it shows; a page in the background does not refresh. */
export const LIVE_MS = 3_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A browser that believes it is offline would wait for ever without a word.
      networkMode: 'always',
      // A refusal would only be repeated; no answer, or a 5xx, is worth one retry.
      retry: (count, error) => count < 1 && isPassing(error),
      refetchOnWindowFocus: true,
      staleTime: 1_000,
    },
  },
});

function isPassing(error: Error): boolean {
  return error instanceof AnswerError && (error.status === 0 || error.status >= 500);
}

interface LiveOptions extends Pick<CallOptions, 'path' | 'query'> {
  readonly isEnabled?: boolean;
  /** False: asked only once, such as where every request is recorded in the audit. */
  readonly everyMs?: number | false;
}

/** An answer of the admin API, refreshed while somebody looks at it. */
export function useLive<R extends Extract<Route, `GET ${string}`>>(
  route: R,
  { isEnabled = true, everyMs = LIVE_MS, ...options }: LiveOptions = {},
) {
  const isLive = everyMs !== false;
  return useQuery<Answers[R]>({
    queryKey: [route, options],
    queryFn: ({ signal }) => call(route, { ...options, signal }),
    enabled: isEnabled,
    refetchInterval: untilSignedOut(everyMs),
    refetchOnWindowFocus: isLive,
    refetchOnReconnect: isLive,
  });
}

/** Stops refreshing once the session has ended (401). */
export function untilSignedOut(everyMs: number | false) {
  return (query: { readonly state: { readonly error: Error | null } }) => {
    const { error } = query.state;
    return error instanceof AnswerError && error.status === 401 ? false : everyMs;
  };
}

/** Refreshes everything on the page after a change. */
export function refreshAll(): Promise<void> {
  return queryClient.invalidateQueries();
}

/** Every operator that may have bets or deliveries, including those whose file is gone. */
export function operatorIds({
  items,
  withoutFile,
}: Answers['GET /admin/operators']): readonly string[] {
  return [...items, ...withoutFile].map(({ id }) => id);
}
