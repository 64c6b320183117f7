/** The page. Generated: its source is in `page/`. */
export const PAGE =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Work queues</title><style></style><body><script></script></body></html>';
