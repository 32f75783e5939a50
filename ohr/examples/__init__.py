"""One small working plugin of each family, which `ohr new` copies; each file's plugin is called Example."""
