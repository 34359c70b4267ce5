import type { ReactNode } from 'react';

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
}

/** One line of a `dl` with the class `facts`. */
export function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** One number of a `dl` with the class `figures`. */
export function Figure({ name, children, isBad }: FactProps & { readonly isBad?: boolean }) {
  return (
    <div className={isBad === true ? 'figure bad' : 'figure'}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
