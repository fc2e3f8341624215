// Registers the elements of the page.

import { AppElement } from './elements/app.js';
import { FilterBarElement } from './elements/filter-bar.js';
import { FindingCardElement } from './elements/finding-card.js';
import { FrameDetailElement } from './elements/frame-detail.js';
import { FrameListElement } from './elements/frame-list.js';
import { JsonTreeElement } from './elements/json-tree.js';
import { OverviewStripElement } from './elements/overview-strip.js';
import { ProblemListElement } from './elements/problem-list.js';
import { RawViewElement } from './elements/raw-view.js';

customElements.define('plumb-raw-view', RawViewElement);
customElements.define('plumb-json-tree', JsonTreeElement);
customElements.define('plumb-finding-card', FindingCardElement);
customElements.define('plumb-overview-strip', OverviewStripElement);
customElements.define('plumb-frame-list', FrameListElement);
customElements.define('plumb-frame-detail', FrameDetailElement);
customElements.define('plumb-problem-list', ProblemListElement);
customElements.define('plumb-filter-bar', FilterBarElement);
customElements.define('plumb-app', AppElement);
