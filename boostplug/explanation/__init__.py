"""Why a model ranks one document above another, and which features order its lists."""
