import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { Time, useNowMs } from './clock.tsx';
import { Plain } from './plain.tsx';
import { spanText } from './times.ts';
import { visibleText } from './visible.ts';

interface HeadingProps {
  readonly title: string;
  /** The query whose age is shown. */
  readonly query?: Pick<UseQueryResult, 'dataUpdatedAt' | 'isError'>;
  /** The age from which it is shown in red: higher where the query runs less often, `never` where it runs once. */
  readonly oldAfterSeconds?: number | 'never';
  readonly children?: ReactNode;
}

/** A page's title, also that of the tab, and how current the page is. */
export function Heading({ title, query, oldAfterSeconds = 10, children }: HeadingProps) {
  useEffect(() => {
    document.title = `${visibleText(title)} · Wagergate`;
  }, [title]);
  return (
    <div className="heading">
      <h1>
        <Plain text={title} />
      </h1>
      {query !== undefined && query.dataUpdatedAt > 0 && oldAfterSeconds !== 'never' && (
        <Freshness atMs={query.dataUpdatedAt} isError={query.isError} {...{ oldAfterSeconds }} />
      )}
      {query !== undefined && query.dataUpdatedAt > 0 && oldAfterSeconds === 'never' && (
        <span className="muted">
          as of <Time at={new Date(query.dataUpdatedAt).toISOString()} />
        </span>
      )}
      {children !== undefined && <div className="heading-end">{children}</div>}
    </div>
  );
}

interface FreshnessProps {
  readonly atMs: number;
  readonly isError: boolean;
  readonly oldAfterSeconds: number;
}

function Freshness({ atMs, isError, oldAfterSeconds }: FreshnessProps) {
  const seconds = Math.max(0, Math.round((useNowMs() - atMs) / 1_000));
  const isOld = isError || seconds > oldAfterSeconds;
  const age = seconds < 60 ? `${seconds} s` : spanText(seconds * 1_000);
  return <span className={isOld ? 'fresh old' : 'fresh'}>{isOld ? `${age} old` : 'live'}</span>;
}
